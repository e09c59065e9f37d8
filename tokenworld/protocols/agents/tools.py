"""The tools: each is a function whose parameters, docstring and result type a client sees.

`Tools` holds the served folder and the games. Bad input is a tool error with the diagnostics as its
text; a negative answer (*refused*, *unwinnable*, a red scenario) is a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, TextContent
from pydantic import Field

from tokenworld.assets import rules_folder
from tokenworld.diagnostics import (
    Failure,
    did_you_mean,
    fields_json,
    reaching,
    read_source,
    usage,
)
from tokenworld.protocols.agents import results as a
from tokenworld.protocols.agents.files import Named, Root
from tokenworld.protocols.agents.games import Games, Shown
from tokenworld.protocols.agents.processes import Answer, ask
from tokenworld.protocols.agents.working import Work
from tokenworld.syntax.format import format_source
from tokenworld.verbs.output import EXIT_USAGE, rendered

MEGABYTES: Final = 2_048
"""Memory of one tool."""
_CHECK: Final = "check.check"
"""This verb reports the errors of a text, also where a module is missing."""

Source = Annotated[
    str,
    Field(description="The text of a world, FILE or FILE:world below the root, or the name of a "
                      "bundled world such as `cellar`."),
]  # fmt: skip
World = Annotated[str | None, Field(description="The world, where the source has several.")]
Goal = Annotated[str | None, Field(description="One goal line; any by default.")]
Seconds = Annotated[float, Field(gt=0, le=600, description="Seconds at most.")]
States = Annotated[int, Field(ge=1, le=5_000_000, description="States at most.")]
Command = Annotated[
    str, Field(max_length=1_000, description="Words, or a call such as `take(ruby)`, or `pass`.")
]
GameNumber = Annotated[int, Field(description="The number that `open` gave.")]


@contextmanager
def told() -> Iterator[None]:
    """Turn bad input into the error of the tool."""
    try:
        yield
    except Failure as failure:
        sources = getattr(failure, "sources", ())
        raise ToolError(rendered(failure.diagnostics, sources, colour=False)) from None


def _result(found: Any, text: str) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text or "fine")],
        structured_content=fields_json(found),
    )


class Tools:
    """The tools of one server."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.games = Games()

    def reading(self) -> list[Callable[..., Any]]:
        """Every tool that changes no file."""
        return [
            self.check, self.judge, self.plan, self.audit, self.test, self.explain,
            self.signatures, self.std, self.format, self.export_pddl, self.import_pddl, self.equiv,
            self.open, self.observe, self.act, self.legal, self.why_not, self.hint, self.undo,
            self.close,
        ]  # fmt: skip

    def writing(self) -> list[Callable[..., Any]]:
        """Return the tools that write files; only `--write` adds them."""
        return [self.write]

    # ---- verbs -----------------------------------------------------------------------------------

    async def check(
        self,
        source: Source,
        ctx: Context,
        pedantic: bool = False,
        repair: Annotated[
            Literal["none", "safe", "all"],
            Field(description="The repairs to make: `all` may change what was meant."),
        ] = "none",
    ) -> Annotated[CallToolResult, a.Checked]:
        """Check a world: names, types, rules, and that each world can start. Every finding has a
        code, a place and the next step. With `repair` the repaired text comes back.
        """
        with told():
            named = self.root.source(source)
            file = named.target.partition(":")[0]
            given = {"files": (file,), "pedantic": pedantic}
            answer = await self._ask(ctx, _CHECK, given, named)
            found = a.Checked.of(answer)
            text = answer.text
            if not found.ok and all(one.line is None for one in found.findings):
                raise ToolError(text)
            if repair != "none" and found.findings:
                given = {"file": file, "unsafe": repair == "all"}
                repaired = await self._ask(ctx, "check.repaired", given, named)
                found = a.Checked(found.ok, found.findings, repaired.found["text"])
                text = f"{text}\n\nafter the repairs:\n{repaired.text}"
            return _result(found, text)

    async def judge(
        self,
        source: Source,
        ctx: Context,
        world: World = None,
        contract: Annotated[
            str, Field(description="game, pddl, free, rows:FILE, or a JSON file.")
        ] = "game",
        states: States = 20_000,
        mutants: Annotated[int, Field(ge=0, le=1_000)] = 40,
        time_limit: Seconds = 120.0,
    ) -> Annotated[CallToolResult, a.Judged]:
        """Judge a world by all tiers at once: check, start, plan, tests, audit, coverage, mutation.
        The text is a brief: what to mend first. `accepted`, `refused` or `unproven`.
        """
        with told():
            if contract not in ("game", "pddl", "free"):
                self.root.path(contract.removeprefix("rows:"))
            named = self.root.source(source, world=world)
            given = {"target": named.target, "contract": contract, "states": states, "ticks": 400,
                     "mutants": mutants, "time_limit": time_limit, "brief": True}  # fmt: skip
            answer = await self._ask(ctx, "judge.judging.judge_world", given, named, time_limit)
            return _result(a.Judged.of(answer), answer.text)

    async def plan(
        self,
        source: Source,
        ctx: Context,
        world: World = None,
        goal: Goal = None,
        luck: Annotated[
            Literal["possible", "least", "certain", "probability"],
            Field(description="Luck is the planner's choice, avoided, an adversary, or weighed."),
        ] = "possible",
        time_limit: Seconds = 60.0,
        seed: int = 0,
    ) -> Annotated[CallToolResult, a.Planned]:
        """Decide whether a goal is reachable: `winnable` with a replayed plan, `unwinnable` with a
        cause, or `unknown` within the limits.
        """
        with told():
            named = self.root.source(source, world=world)
            given = {"target": named.target, "problem": None, "luck": luck, "goal": goal,
                     "time_limit": time_limit, "seed": seed}  # fmt: skip
            answer = await self._ask(ctx, "plan.verb.plan_asked", given, named, time_limit)
            return _result(a.Planned.of(answer), answer.text)

    async def audit(
        self,
        source: Source,
        ctx: Context,
        world: World = None,
        goal: Goal = None,
        states: States = 100_000,
        time_limit: Seconds = 60.0,
    ) -> Annotated[CallToolResult, a.Audited]:
        """Explore the states of a world: dead ends and how cruel they are, one-way doors, rules
        that never happen.
        """
        with told():
            named = self.root.source(source, world=world)
            given = {"target": named.target, "goal": goal, "states": states,
                     "time_limit": time_limit}  # fmt: skip
            answer = await self._ask(ctx, "audit.verb.audit", given, named, time_limit)
            return _result(a.Audited.of(answer), answer.text)

    async def test(
        self, source: Source, ctx: Context, time_limit: Seconds = 60.0
    ) -> Annotated[CallToolResult, a.Tested]:
        """Run the scenarios of a source. A failed check shows the values that it read."""
        with told():
            named = self.root.source(source)
            given = {"paths": (named.target,), "time_limit": time_limit}
            answer = await self._ask(ctx, "test.test", given, named, time_limit)
            return _result(a.Tested.of(answer), answer.text)

    async def explain(
        self,
        ctx: Context,
        code: Annotated[str | None, Field(description="A code such as TW0403.")] = None,
        source: Annotated[str | None, Field(description="With `rule`: the world.")] = None,
        rule: Annotated[str | None, Field(description="An action or a law.")] = None,
    ) -> Annotated[CallToolResult, a.Explained]:
        """The page of a diagnostic code; or one rule of a source in every stage, from its text to
        PDDL and English.
        """
        with told():
            if (code is None) == (source is None or rule is None):
                raise usage("Give `code`, or `source` and `rule`.", "Leave the other out.")
            if code is not None:
                given: dict[str, Any] = {"what": code, "stages": False}
                answer = await self._ask(ctx, "explain.explain", given, Named("", {}))
            else:
                named = self.root.source(source or "", world=rule)
                given = {"what": named.target, "stages": True}
                answer = await self._ask(ctx, "explain.explain", given, named)
            return _result(a.Explained.of(answer), answer.text)

    async def signatures(
        self, source: Source, ctx: Context
    ) -> Annotated[CallToolResult, a.Signatures]:
        """Return the declarations of a source and of the modules that it uses, without bodies of
        rules: the names that a test can use.
        """
        with told():
            named = self.root.source(source)
            given = {"file": named.target.partition(":")[0], "signatures": True}
            answer = await self._ask(ctx, "reading.rules", given, named)
            return _result(a.Signatures.of(answer), answer.text)

    async def std(
        self,
        ctx: Context,
        module: Annotated[
            str | None, Field(description="Such as `std.doors`: its text. Without it, the list.")
        ] = None,
    ) -> Annotated[CallToolResult, a.Modules]:
        """The standard modules that `use std.doors` brings into a world, or the text of one."""
        with told():
            modules = {_module(path): path for path in sorted(rules_folder().rglob("*.tw"))}
            if module is not None:
                if module not in modules:
                    hint = did_you_mean(module, modules) or "Call `std` for the list."
                    raise usage(f"There is no standard module `{module}`.", hint)
                modules = {module: modules[module]}
            texts = {name: path.read_text(encoding="utf-8") for name, path in modules.items()}
            about = {name: text.split("\n")[0].lstrip("# ") for name, text in texts.items()}
            listed = "\n".join(f"{name}: {line}" for name, line in about.items())
            return _result(a.Modules(about), listed if module is None else texts[module])

    async def format(
        self,
        source: Source,
        ctx: Context,
        write: Annotated[bool, Field(description="Write the file (needs `--write`).")] = False,
    ) -> Annotated[CallToolResult, a.Formatted]:
        """Lay a source out in the one style: only white space changes."""
        with told():
            named = self.root.source(source)
            if write and named.texts:
                raise usage("A text has no file to write.", "Name a file, or leave out `write`.")

            def formatted() -> tuple[str, str]:
                with reaching(self.root.reach(named.texts)):
                    found = read_source(self.root.located(named), named.target)
                text, problems = format_source(found)
                if text is None:
                    raise Failure(*problems)
                return found.text, text

            before, text = await anyio.to_thread.run_sync(formatted)
            if write:
                self.root.write(named.target, text)
            return _result(a.Formatted(text != before, write, text), text)

    async def export_pddl(
        self,
        source: Source,
        ctx: Context,
        world: World = None,
        goal: Goal = None,
        probabilities: Annotated[bool, Field(description="PPDDL, with chances.")] = False,
        time_limit: Seconds = 60.0,
    ) -> Annotated[CallToolResult, a.Exported]:
        """Write a world as a PDDL domain and problem."""
        with told():
            named = self.root.source(source, world=world)
            given = {"target": named.target, "pddl": not probabilities, "ppddl": probabilities,
                     "goal": goal}  # fmt: skip
            answer = await self._ask(ctx, "plan.pddl.export_pddl", given, named, time_limit)
            return _result(a.Exported.of(answer), answer.text)

    async def import_pddl(
        self,
        domain: Annotated[str, Field(description="The text of a PDDL domain, or its file.")],
        ctx: Context,
        problems: Annotated[
            list[str] | None, Field(max_length=100, description="Texts or files of problems.")
        ] = None,
    ) -> Annotated[CallToolResult, a.Imported]:
        """Convert a PDDL domain and its problems to a `.tw` text; each problem becomes a world."""
        with told():
            named = self.root.source(domain, "domain.pddl")
            more = [
                self.root.source(one, f"problem{number}.pddl")
                for number, one in enumerate(problems or (), 1)
            ]
            given = {"domain": Path(named.target),
                     "problems": tuple(Path(one.target) for one in more)}  # fmt: skip
            answer = await self._ask(ctx, "plan.pddl.import_pddl", given, _joined(named, *more))
            return _result(a.Imported.of(answer), answer.text)

    async def equiv(
        self,
        first: Source,
        second: Source,
        ctx: Context,
        problems: Annotated[
            list[str] | None, Field(max_length=100, description="PDDL problems for both domains.")
        ] = None,
        time_limit: Seconds = 60.0,
    ) -> Annotated[CallToolResult, a.Compared]:
        """Compare the behaviour of two domains (`.tw` or PDDL); return the first difference on a
        shortest way from the start.
        """
        with told():
            left, right = (
                self.root.source(one, f"{name}.{_kind(one)}")
                for name, one in (("first", first), ("second", second))
            )
            more = [
                self.root.source(one, f"problem{number}.pddl")
                for number, one in enumerate(problems or (), 1)
            ]
            given = {"first": left.target, "second": right.target,
                     "problems": tuple(Path(one.target) for one in more)}  # fmt: skip
            named = _joined(left, right, *more)
            answer = await self._ask(ctx, "equiv.equivalence", given, named, time_limit)
            return _result(a.Compared.of(answer), answer.text)

    async def write(
        self,
        file: Annotated[str, Field(description="A `.tw` file below the root.")],
        text: Annotated[str, Field(description="All that the file shall have.")],
        ctx: Context,
    ) -> Annotated[CallToolResult, a.Written]:
        """Write the text of a world to a file, whole or not at all."""
        with told():
            await anyio.to_thread.run_sync(self.root.write, file, text)
            return _result(a.Written(file), f"wrote {file}")

    # ---- games -----------------------------------------------------------------------------------

    async def open(
        self, source: Source, ctx: Context, world: World = None, seed: int = 0
    ) -> Annotated[CallToolResult, a.Seen]:
        """Begin a game of a world and see its start. Give its commands with `act`."""
        with told():
            self.games.require_room()
            named = self.root.source(source, world=world)
            file = named.target.partition(":")[0]
            checked = await self._ask(ctx, _CHECK, {"files": (file,)}, named)
            if checked.code:
                raise ToolError(checked.text)
            target, reach = self.root.located(named), self.root.reach(named.texts)
            return _result(*await self.games.open(target, reach, seed))

    async def observe(self, game: GameNumber, ctx: Context) -> Annotated[CallToolResult, a.Told]:
        """Look at a game: the last result and the possible commands; the typed result is all of
        the state that its player may know.
        """
        return await self._shown(lambda: self.games.observe(game))

    async def act(
        self, game: GameNumber, command: Command, ctx: Context
    ) -> Annotated[CallToolResult, a.Seen]:
        """Execute a command and see the result. A refused command says why and changes
        nothing.
        """
        return await self._shown(lambda: self.games.act(game, command))

    async def legal(self, game: GameNumber, ctx: Context) -> Annotated[CallToolResult, a.Commands]:
        """List all commands that would be executed now."""
        return await self._shown(lambda: self.games.legal(game))

    async def why_not(
        self,
        game: GameNumber,
        command: Command,
        ctx: Context,
        way: Annotated[
            float, Field(ge=0, le=600, description="Seconds to look for a way to it; 0: do not.")
        ] = 0.0,
    ) -> Annotated[CallToolResult, a.Reasons]:
        """Show which requires of a command hold now, without executing it; since when others fail
        and by which rule; on demand the way that makes the command possible.
        """
        say = self._say(ctx)
        return await self._shown(lambda: self.games.why_not(game, command, way, say))

    async def hint(
        self, game: GameNumber, ctx: Context, goal: Goal = None, time_limit: Seconds = 20.0
    ) -> Annotated[CallToolResult, a.Hinted]:
        """Return the next command of a shortest plan from here, and the distance to the goal."""
        say = self._say(ctx)
        return await self._shown(lambda: self.games.hint(game, goal, time_limit, say))

    async def undo(self, game: GameNumber, ctx: Context) -> Annotated[CallToolResult, a.Seen]:
        """Take back the last command of a game."""
        return await self._shown(lambda: self.games.undo(game))

    async def close(self, game: GameNumber, ctx: Context) -> str:
        """End a game, to make room for another."""
        with told():
            self.games.close(game)
            return f"game {game} is closed"

    # ---- shared parts ----------------------------------------------------------------------------

    async def _shown(self, work: Callable[[], Any]) -> CallToolResult:
        with told():
            found: Shown = await work()
            return _result(*found)

    async def _ask(
        self,
        ctx: Context,
        function: str,
        given: dict[str, Any],
        named: Named,
        seconds: float = 60.0,
    ) -> Answer:
        """Run a verb in a child process; bad input becomes the error of the tool."""
        work = Work(function, given, self.root.reach(named.texts), seconds, MEGABYTES)
        answer = await ask(work, self.root.folder, self._progress(ctx))
        if answer.failed or (answer.code == EXIT_USAGE and function != _CHECK):
            raise ToolError(answer.text)
        return answer

    def _say(self, ctx: Context) -> Callable[[str], None]:
        """Return a function that sends a client lines of progress from a thread."""
        progress = self._progress(ctx)

        def say(text: str) -> None:
            anyio.from_thread.run(progress, text)

        return say

    def _progress(self, ctx: Context) -> Callable[[str], Any]:
        """Return a function that sends a client lines of progress, numbered from 1."""
        count = 0

        async def tell(text: str) -> None:
            nonlocal count
            count += 1
            await ctx.report_progress(count, message=text)

        return tell


def _module(path: Path) -> str:
    return ".".join(path.relative_to(rules_folder()).with_suffix("").parts)


def _kind(text: str) -> str:
    return "pddl" if text.lstrip().startswith("(") else "tw"


def _joined(*named: Named) -> Named:
    """Join the texts of several sources."""
    texts = {path: text for one in named for path, text in one.texts.items()}
    return Named(named[0].target, texts)
