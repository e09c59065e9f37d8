"""``tw author``: run, replay or resume; `exit_code` lists the exit codes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final

from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    counted,
    did_you_mean,
    fields_json,
    read_source,
    usage,
)
from tokenworld.model.schema import shaped
from tokenworld.store.usage import read_prices
from tokenworld.verbs import options as opt
from tokenworld.verbs.author import rounds
from tokenworld.verbs.author.asking import ROLES, ProviderFailure, Role, scrubbed, secrets
from tokenworld.verbs.author.attempts import Attempt
from tokenworld.verbs.author.desk import Settings
from tokenworld.verbs.author.providers import Address, Program, provider_of
from tokenworld.verbs.author.report import report_html
from tokenworld.verbs.author.roles import Search
from tokenworld.verbs.author.rounds import Job, Result
from tokenworld.verbs.author.sources import NAME as WORLD
from tokenworld.verbs.author.specification import contract_of
from tokenworld.verbs.author.transcript import (
    NAME as TRANSCRIPT,
)
from tokenworld.verbs.author.transcript import (
    Event,
    Transcript,
    read_line,
    recorded_lines,
    unusable,
    without_end,
)
from tokenworld.verbs.judge.contract import Budget, read_contract
from tokenworld.verbs.output import (
    EXIT_INTERRUPTED,
    EXIT_NEGATIVE,
    EXIT_OK,
    EXIT_UNKNOWN,
    EXIT_USAGE,
    Output,
    write_file,
)

MOST_DESCRIPTION: Final = 256 * 1024
"""The greatest number of bytes of a description."""
_KEY: Final = 4
"""The least number of characters of a key: a shorter one would be found in any text."""
_HINT: Final = "Name a folder that can be written with `-o`."


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of the command line that decide a run."""

    contract: opt.Contract = "game"
    direct: Annotated[bool, "Ask once, without rounds: description in, world out."] = False
    single: Annotated[bool, "Leave out all roles but the developer."] = False
    without: Annotated[str, "Roles to leave out: analyst, researcher, tester, player."] = ""
    rounds: Annotated[int, "Rounds at most."] = 4
    requests: Annotated[int, opt.Option("--max-requests"), "Requests to the model at most."] = 100
    tokens: Annotated[int | None, opt.Option("--max-tokens"), "Tokens in and out at most."] = None
    cost: Annotated[float | None, opt.Option("--max-cost"), "Cost at most."] = None
    seconds: Annotated[
        float | None, opt.Option("--time-limit"), "No request after so many seconds."
    ] = None
    mutants: Annotated[int, "Changed rules that the tests must notice."] = 20
    seed: Annotated[int, "For models that take a seed; 0: none."] = 0


def write_world(
    description: Annotated[Path | None, "A text that describes a world."],
    out: Output,
    *,
    output: Annotated[Path | None, opt.OUTPUT, "The folder for the result."] = None,
    provider: Annotated[str | None, "script:FILE, command:PROGRAM, http or pydantic-ai."] = None,
    model: Annotated[str, "The name of the model."] = "",
    url: Annotated[str, "The address of `http`."] = "https://api.openai.com/v1",
    key_env: Annotated[
        str, "The environment variable that has the key of `http`."
    ] = "OPENAI_API_KEY",
    prices: opt.Prices = None,
    reply_timeout: Annotated[float, "Seconds for one answer."] = 300.0,
    wanted: Wanted,
    search: Annotated[str | None, "A program that searches for the researcher."] = None,
    deny: Annotated[Path | None, "A file of texts whose search results are left out."] = None,
    resume: Annotated[bool, "Go on with the interrupted run in the folder."] = False,
    replay: Annotated[Path | None, "Run a recorded run again, and compare each event."] = None,
) -> int:
    """Run ``tw author`` in one of its three ways."""
    if replay is not None:
        if description is not None or provider is not None or resume:
            raise usage("`--replay` takes all from the run.", "Give it alone, or with `-o`.")
        return _replayed(replay, output, out)
    if output is None:
        raise usage("There is no folder for the result.", "Name one with `-o DIR`.")
    with ExitStack() as open_:
        recorded = recorded_lines(output) if resume else []
        keys = tuple(one for one in (os.environ.get(key_env, "").strip(),) if len(one) >= _KEY)
        job = _job(description, recorded, wanted, output, keys)
        if provider is None:
            raise usage("No provider is named.", "Give `--provider http --model NAME`, or others.")
        priced = read_prices(prices)
        address = Address(url, model, key_env, reply_timeout)
        asked = provider_of(provider, address)
        open_.callback(asked.close)
        found = None if search is None else _search(search, deny, reply_timeout, open_)
        header = read_line(recorded[0]) if recorded else {}
        named = (header.get("provider", asked.name), header.get("model", asked.model))
        job = replace(job, provider=asked, model=named, search=found, prices=priced)
        return _run(_placed(job, output, recorded, out), output, out)


# ---- the job ------------------------------------------------------------------------------------


def _job(
    description: Path | None,
    recorded: list[str],
    wanted: Wanted,
    output: Path,
    keys: tuple[str, ...],
) -> Job:
    """Return the job of the command line, or of the run that is resumed."""
    if recorded:
        return replace(_recorded_job(read_line(recorded[0]), Transcript(None)), keys=keys)
    if description is None:
        raise usage("There is no description.", "Name a text file, and a folder with `-o`.")
    if (output / TRANSCRIPT).exists():
        message = f"`{output}` has a run already."
        raise usage(message, "Name another folder, or go on with `--resume`.")
    text = scrubbed(_description(description), (*keys, *secrets()))
    return Job(text, _settings(wanted), None, Transcript(None), keys=keys)


def _recorded_job(header: Event, transcript: Transcript) -> Job:
    try:
        settings = shaped(Settings, header.get("settings"))
    except ValueError as error:
        raise unusable(f"The header of the transcript does not fit: {error}.", _OTHER) from None
    description = str(header.get("description", ""))
    model = (str(header.get("provider", "")), str(header.get("model", "")))
    return Job(description, settings, None, transcript, model)


_OTHER: Final = "Replay it with the version that recorded it."


def _description(path: Path) -> str:
    text = read_source(path).text
    size = len(text.encode())
    if size > MOST_DESCRIPTION:
        message = f"`{path}` has {size:,} bytes, too many for a description."
        raise usage(message, f"Describe the world in at most {MOST_DESCRIPTION:,} bytes.")
    if not text.strip():
        raise usage(f"`{path}` is empty.", "Describe a world in it.")
    return text


def _settings(wanted: Wanted) -> Settings:
    if wanted.rounds < 1 or wanted.requests < 1 or wanted.mutants < 0:
        raise usage("A budget is a whole number.", "Give `--rounds` and `--max-requests` from 1.")
    return Settings(
        contract=read_contract(wanted.contract),
        roles=_roles(wanted),
        rounds=1 if wanted.direct else wanted.rounds,
        calls=1 if wanted.direct else Settings().calls,
        tools=not wanted.direct,
        requests=wanted.requests,
        tokens=wanted.tokens,
        cost=wanted.cost,
        seconds=wanted.seconds,
        seed=wanted.seed,
        judge=Budget(mutants=wanted.mutants, seconds=60.0),
    )


def _roles(wanted: Wanted) -> tuple[Role, ...]:
    if wanted.direct or wanted.single:
        return ("developer",)
    left = [one.strip() for one in wanted.without.split(",") if one.strip()]
    for one in left:
        if one not in ROLES or one == "developer":
            hint = did_you_mean(one, ROLES) or "Name some of analyst, researcher, tester, player."
            raise usage(f"`--without {one}` names no role that can be left out.", hint)
    return tuple(role for role in ROLES if role not in left)


def _search(command: str, deny: Path | None, seconds: float, open_: ExitStack) -> Search:
    denied = () if deny is None else tuple(read_source(deny).text.split("\n"))
    program = Program(command, seconds)
    open_.callback(program.close)

    def ask(query: str) -> object:
        try:
            return program.call({"query": query}).get("results")
        except ProviderFailure:
            return []  # a search that fails finds nothing

    return Search(ask, tuple(one.strip() for one in denied if one.strip()))


# ---- running ------------------------------------------------------------------------------------


def _placed(job: Job, output: Path, recorded: list[str], out: Output) -> Job:
    """Return the job with its transcript in the folder, which begins with the recorded events."""
    lines = without_end(recorded) if recorded else []
    path = output / TRANSCRIPT
    write_file(path, "".join(f"{one}\n" for one in lines), _HINT, folder=output)
    say = out.each_second()
    return replace(
        job,
        transcript=Transcript(path, lines),
        told=_teller(out),
        progress=say,
        kept=lambda attempt: _write_best(output, attempt),
    )


def _teller(out: Output) -> Callable[[str], None]:
    return lambda line: out.note(line) if out.as_json else out.entry(line)


def _run(job: Job, output: Path, out: Output) -> int:
    result = rounds.author(job)
    _write_all(output, result, job)
    return _told(result, output, out)


def _write_best(output: Path, attempt: Attempt) -> None:
    write_file(output / WORLD, attempt.text, _HINT)


def _write_all(output: Path, result: Result, job: Job) -> None:
    """All files beside the transcript; the world is that of the best attempt."""
    if result.best is not None:
        _write_best(output, result.best)
    elif result.draft:
        write_file(output / WORLD, result.draft, _HINT)
    if result.spec is not None:
        text = json.dumps(_plain(result.spec), ensure_ascii=False, indent=1)
        write_file(output / "specification.json", f"{text}\n", _HINT)
    rules = result.best.rules if result.best else {}
    contract = contract_of(job.settings.contract, result.spec, rules)
    text = json.dumps(_plain(contract), ensure_ascii=False, indent=1)
    write_file(output / "contract.json", f"{text}\n", _HINT)
    write_file(output / "report.html", report_html(result, job.description), _HINT)


def _plain(value: object) -> object:
    from dataclasses import asdict

    found = asdict(value)  # type: ignore[call-overload]
    return {key: one for key, one in found.items() if one not in ((), "")}


def _told(result: Result, output: Path, out: Output) -> int:
    """Print the result of the run; return the exit code."""
    code = exit_code(result)
    best = result.best
    if result.reason == "provider_error":
        failure = ProviderFailure(result.why, result.hint)
        out.diagnostics(failure.diagnostics)
    status = status_of(result)
    why = f": {result.why}" if result.why and result.reason != "provider_error" else ""
    out.line(f"{status} (ended: {result.reason}{why}); see `{output / 'report.html'}`")
    if result.requests:
        out.line(f"{counted(result.requests, 'request')}: {result.usage.text}")
    out.json({
        "schema_version": 1, "ok": code == EXIT_OK, "status": status, "reason": result.reason,
        "why": result.why, "rounds": len(result.attempts), "requests": result.requests,
        "tokens": result.tokens, "cost": result.cost, "usage": fields_json(result.usage),
        "folder": str(output),
        "world": str(output / WORLD) if best or result.draft else None,
        "disputed": [one.title for one in (best.disputes if best else ())],
        "violations": [one.told for one in result.violations],
    })  # fmt: skip
    return code


def status_of(result: Result) -> str:
    """Return the status of the best world, *not judged* for a draft, *no world* without any."""
    if result.best is not None:
        return result.best.status
    return "not judged" if result.draft else "no world"


def exit_code(result: Result) -> int:
    """0 accepted, 130 interrupted, 3 unproven or out of budget, 2 nothing reached, else 1."""
    best = result.best
    if result.reason == "cancelled":
        return EXIT_INTERRUPTED
    if best is not None and best.status == "accepted":
        return EXIT_OK
    if result.reason == "provider_error" and best is None and not result.draft:
        return EXIT_USAGE
    if result.reason in ("budget", "time") or (best is not None and best.status == "unproven"):
        return EXIT_UNKNOWN
    return EXIT_NEGATIVE


# ---- replaying ----------------------------------------------------------------------------------


def _replayed(run: Path, output: Path | None, out: Output) -> int:
    """Run the loop on the recorded answers: 0 if every event is equal, 1 if one differs."""
    lines = recorded_lines(run)
    job = _recorded_job(read_line(lines[0]), Transcript(None, lines))
    job = replace(job, told=_teller(out), progress=out.each_second())
    try:
        result = rounds.author(job)
        if not job.transcript.exhausted:
            raise unusable("The transcript has events after its end.", "Name an unchanged one.")
    except Failure as failure:
        if any(one.code != "TW1302" for one in failure.diagnostics):
            raise
        return _differs(failure, out)
    if output is not None:
        write_file(output / TRANSCRIPT, "".join(f"{one}\n" for one in lines), _HINT, folder=output)
        _write_all(output, result, job)
    status = status_of(result)
    told = "" if result.reason != "cut" else " so far: the recording breaks off"
    out.line(f"equal{told}, {counted(job.transcript.compared, 'event')}; {status}")
    out.json({
        "schema_version": 1, "ok": True, "equal": True, "events": job.transcript.compared,
        "status": status, "reason": result.reason,
    })  # fmt: skip
    return EXIT_OK


def _differs(failure: Failure, out: Output) -> int:
    found: tuple[Diagnostic, ...] = failure.diagnostics
    out.diagnostics(found)
    out.json({"schema_version": 1, "ok": False, "equal": False, "why": found[0].message})
    return EXIT_NEGATIVE
