"""Providers, with a real server, a real program and pydantic-ai's own model for tests."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.author.conftest import ALONE, CAVE, DESCRIPTION, SUBMIT, Tw, whole
from tokenworld.store.usage import Usage
from tokenworld.verbs.author.asking import Message, ProviderFailure, Request, secrets
from tokenworld.verbs.author.providers import TRIES, Address, Http
from tokenworld.verbs.author.rounds import Job, author
from tokenworld.verbs.author.transcript import Transcript

REQUEST = Request("developer", (Message("system", "s"), Message("user", "u")), 7)
ANSWER = whole(CAVE) + SUBMIT


def completion(text: object, **usage: object) -> bytes:
    found: dict[str, object] = {"choices": [{"message": {"role": "assistant", "content": text}}]}
    return json.dumps({**found, "usage": usage} if usage else found).encode()


class Server:
    """Answers each POST with the next of its replies: a status, headers and a body, or what else
    may happen to a connection."""

    def __init__(self) -> None:
        self.replies: list[Any] = []
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(length))
                server.seen.append((self.path, dict(self.headers), body))
                reply = server.replies.pop(0) if len(server.replies) > 1 else server.replies[0]
                if reply == "hang":
                    server.over.wait(5)
                    return
                if reply == "drip":
                    self.send_response(200)
                    self.end_headers()
                    while not server.over.wait(0.05):
                        self.wfile.write(b" ")
                        self.wfile.flush()
                    return
                status, headers, data = reply
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if "Content-Length" not in headers:
                    self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments: object) -> None:
                """Keep stderr clean."""

        self.over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    pytest.importorskip("httpx", reason="the extra `author` is not installed")
    found = Server()
    yield found
    found.close()


def asked(server: Server, *replies: Any, **more: Any) -> tuple[Any, list[float]]:
    """What one request comes to, and the seconds that were waited."""
    server.replies = list(replies)
    waited: list[float] = []
    http = Http(Address(server.url, "m", **more), waited.append)
    try:
        return http.ask(REQUEST), waited
    finally:
        http.close()


GOOD = (200, {}, completion("hello", prompt_tokens=11, completion_tokens=3))


def test_an_address_answers(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "k-123456789")
    found, waited = asked(server, GOOD, key="MY_KEY")
    assert (found.text, found.usage) == ("hello", Usage(11, 3))
    assert waited == []
    path, headers, body = server.seen[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer k-123456789"
    assert body == {
        "model": "m", "seed": 7,
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
    }  # fmt: skip


def test_a_busy_address_is_asked_again_when_it_says(server: Server) -> None:
    busy = (429, {"Retry-After": "7"}, b"slow down")
    later = (503, {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, b"")
    found, waited = asked(server, busy, later, (500, {"Retry-After": "soon"}, b""), GOOD)
    assert found.text == "hello"
    assert waited == [7.0, 0.0, 4.0]


TROUBLE: dict[str, tuple[Any, str]] = {
    "429": ((429, {}, b""), "answers with HTTP status 429"),
    "500": ((500, {}, b"no"), "answers with HTTP status 500"),
    "timeout": ("hang", "gave no answer within 0.2 s"),
    "drops": ("drip", "gave no answer within 0.2 s"),
    "drop": ((200, {"Content-Length": "500"}, b'{"choices"'), "broke off"),
}


@pytest.mark.parametrize("name", TROUBLE)
def test_what_fails_four_times_is_a_failure(server: Server, name: str) -> None:
    reply, told = TROUBLE[name]
    with pytest.raises(ProviderFailure) as failure:
        asked(server, reply, seconds=0.2 if name in ("timeout", "drops") else 5.0)
    assert told in failure.value.why
    assert f"({TRIES} tries)" in failure.value.why
    assert len(server.seen) == TRIES
    found, _ = asked(server, reply, GOOD, seconds=0.2 if name in ("timeout", "drops") else 5.0)
    assert found.text == "hello"


AT_ONCE: dict[str, tuple[Any, str]] = {
    "wrong key": ((401, {}, b"secret body"), "Check the key in the variable `OPENAI_API_KEY`"),
    "wrong path": ((404, {}, b""), "Check `--url`"),
    "redirect": ((302, {"Location": "http://127.0.0.1:9/"}, b""), "Check `--url`"),
    "no JSON": ((200, {}, b"<html>"), "chat completions"),
    "other JSON": ((200, {}, b'{"choices": []}'), "chat completions"),
    "no text": ((200, {}, completion(None)), "chat completions"),
    "deep JSON": ((200, {}, b"[" * 100_000), "chat completions"),
    "flood": ((200, {}, b"x" * (5 << 20)), "one completion"),
}


@pytest.mark.parametrize("name", AT_ONCE)
def test_what_will_not_change_is_not_asked_again(server: Server, name: str) -> None:
    reply, hint = AT_ONCE[name]
    with pytest.raises(ProviderFailure) as failure:
        asked(server, reply)
    assert hint in str(failure.value.diagnostics[0].hint)
    assert len(server.seen) == 1
    assert "secret body" not in str(failure.value)


def test_nobody_there() -> None:
    pytest.importorskip("httpx", reason="the extra `author` is not installed")
    with pytest.raises(ProviderFailure, match="cannot be reached"):
        Http(Address("http://127.0.0.1:9/v1", "m"), lambda seconds: None).ask(REQUEST)


def test_a_run_over_http_leaves_no_key(
    server: Server, tw: Tw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where the model repeats it, or the description has it."""
    key = "sk-very-secret-4711"
    monkeypatch.setenv("LETMEIN", key)  # a name that does not tell what it is
    assert key not in secrets()
    monkeypatch.setenv("SOME_API_KEY", "other-key-0815")
    assert secrets({"A_KEY": "short", "B_TOKEN": "long-enough", "C": "long-enough"}) == (
        "long-enough",
    )
    (tmp_path / "d.md").write_text(f"A cave. {key} other-key-0815", encoding="utf-8")
    text = f"# {key}\n" + CAVE + 'scenario "s" in cave { when pour(lamp) then lamp.oil == 1 }\n'
    server.replies = [(200, {}, completion(f"{key} other-key-0815\n{whole(text)}{SUBMIT}"))]
    ran = tw("d.md", "-o", "out", "--provider", "http", "--model", "m", "--url", server.url,
             "--single", "--contract", "free", "--key-env", "LETMEIN")  # fmt: skip
    assert ran.code == 0, ran.err
    assert server.seen[0][1]["Authorization"] == f"Bearer {key}"
    files = [path.read_text(encoding="utf-8") for path in (tmp_path / "out").iterdir()]
    assert len(files) == 4
    assert not [one for one in (*files, ran.out, ran.err) if key in one or "0815" in one]
    assert "[key]" in (tmp_path / "out" / "world.tw").read_text(encoding="utf-8")
    assert tw("--replay", "out").code == 0


# ---- a program ----------------------------------------------------------------------------------

PROGRAM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    assert asked["role"] == "developer" and asked["messages"][0]["role"] == "system"
    print(json.dumps({"text": TEXT, "tokens_in": 5, "tokens_out": 2, "cost": 0.5}), flush=True)
"""
BAD = {
    "ends": ("", "ended before it answered"),
    "dies": ("raise SystemExit(3)", "with exit code 3"),
    "no JSON": ("print('hello')\nimport time; time.sleep(9)", "no JSON object"),
    "no text": ("print('{}')\nimport time; time.sleep(9)", "without a `text`"),
    "hangs": ("import time; time.sleep(9)", "gave no answer within 0.5 s"),
}


def test_a_program_answers(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "d.md").write_text(DESCRIPTION, encoding="utf-8")
    (tmp_path / "model.py").write_text(f"TEXT = {ANSWER!r}\n{PROGRAM}", encoding="utf-8")
    ran = tw("d.md", "-o", "out", "--provider", f"command:{sys.executable} model.py", "--single",
             "--contract", "free", "--json", "--max-cost", "9")  # fmt: skip
    assert ran.code == 0, ran.err
    assert (ran.json["tokens"], ran.json["cost"]) == (7, 0.5)
    used = {"answers": 1, "told": 1, "tokens_in": 5, "tokens_out": 2, "cost": 0.5}
    assert ran.json["usage"] == used
    assert "5 tokens in, 2 out, cost 0.5" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert tw("--replay", "out", "--json").code == 0


def test_a_cost_is_computed_from_prices_or_not_told(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "d.md").write_text(DESCRIPTION, encoding="utf-8")
    silent = PROGRAM.replace(', "tokens_in": 5, "tokens_out": 2, "cost": 0.5', "")
    for name, text, line in (
        ("priced", PROGRAM.replace(', "cost": 0.5', ""), "5 tokens in, 2 out, cost 0.00002"),
        ("silent", silent, "tokens not told by the model"),
    ):
        (tmp_path / "model.py").write_text(f"TEXT = {ANSWER!r}\n{text}", encoding="utf-8")
        ran = tw("d.md", "-o", name, "--provider", f"command:{sys.executable} model.py",
                 "--single", "--contract", "free", "--prices", "2,5")  # fmt: skip
        assert ran.out.splitlines()[-1] == f"1 request: {line}", ran.err


@pytest.mark.parametrize("name", BAD)
def test_a_program_that_does_not_answer(name: str, tw: Tw, tmp_path: Path) -> None:
    text, told = BAD[name]
    (tmp_path / "d.md").write_text(DESCRIPTION, encoding="utf-8")
    program = f"import sys\nsys.stdin.readline()\n{text}\n"
    (tmp_path / "model.py").write_text(program, encoding="utf-8")
    ran = tw("d.md", "-o", "out", "--provider", f"command:{sys.executable} -u model.py",
             "--single", "--reply-timeout", "0.5" if name == "hangs" else "20")  # fmt: skip
    assert ran.code == 2
    assert ran.err.count("error[TW1301]") == 1
    assert told in ran.err


# ---- pydantic-ai --------------------------------------------------------------------------------


def test_models_of_pydantic_ai(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai", reason="the extra `author` is not installed")
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from tokenworld.verbs.author.providers import PydanticAi

    heard: list[list[ModelMessage]] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        heard.append(messages)
        return ModelResponse([TextPart(whole(CAVE) if len(heard) == 1 else SUBMIT)])

    job = Job(DESCRIPTION, ALONE, PydanticAi(FunctionModel(answer)), Transcript(tmp_path / "t"))
    result = author(job)
    assert result.reason == "accepted"
    assert result.tokens > 0
    kinds = [[part.part_kind for part in one.parts] for one in heard[1]]
    assert kinds == [["system-prompt"], ["user-prompt"], ["text"], ["user-prompt"]]

    def fail(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise RuntimeError("no luck\nat all")

    failed = author(replace(job, provider=PydanticAi(FunctionModel(fail)),
                            transcript=Transcript(tmp_path / "u")))  # fmt: skip
    assert (failed.reason, failed.why) == ("provider_error", "failed: no luck")


@pytest.mark.parametrize("name", ["http", "pydantic-ai"])
def test_without_its_library_a_provider_says_what_to_install(
    name: str, tw: Tw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d.md").write_text(DESCRIPTION, encoding="utf-8")
    monkeypatch.setitem(sys.modules, "httpx" if name == "http" else "pydantic_ai", None)
    ran = tw("d.md", "-o", "out", "--provider", name, "--model", "m")
    assert ran.code == 2
    assert "error[TW0811]" in ran.err
    assert "token-world[author]" in ran.err
    assert not (tmp_path / "out").exists()
