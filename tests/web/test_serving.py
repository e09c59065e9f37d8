"""The server of the page: who is answered, what is passed on, and that it leaves nothing behind."""

# ruff: noqa: E402 (nothing can be imported before it is known that the extra is there)

from __future__ import annotations

import asyncio
import inspect
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

aiohttp = pytest.importorskip("aiohttp", reason="the extra `web` is not installed")
pytest.importorskip("textual_serve", reason="the extra `web` is not installed")
sys.path.insert(0, str(Path(__file__).parent))

from aiohttp.test_utils import TestServer
from served import CELLAR, Screen, Served, environment, program, until

from tokenworld.cli import _main
from tokenworld.cli.commands import command
from tokenworld.play.web import server
from tokenworld.play.web import verb as serving
from tokenworld.play.web.server import leads_here
from tokenworld.store.log import RunStore
from tokenworld.store.read import list_runs

Serve = Callable[..., Served]
needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")


# ---- who is answered --------------------------------------------------------------------------


async def got(url: str) -> tuple[int, str, dict[str, str]]:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.text(), dict(answer.headers)


async def test_the_page_loads_nothing_from_elsewhere(serve: Serve) -> None:
    url = serve(CELLAR).url
    status, text, headers = await got(url)
    assert status == 200
    assert "<title>The Cellar</title>" in text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"
    for part in ("", "page/page.css", "page/page.js", "static/css/xterm.css"):
        status, text, _ = await got(url + part)
        assert status == 200
        assert "url(http" not in text
        assert 'src="http' not in text
        assert 'href="http' not in text


async def test_nobody_is_answered_without_the_key(serve: Serve) -> None:
    url = serve(CELLAR).url
    root = url.rsplit("/", 2)[0]
    near = f"/x{url.rsplit('/', 2)[1]}/"
    for path in ("/", "/ws", "/static/js/textual.js", near, "/download/x"):
        status, text, headers = await got(root + path)
        assert status == 404, path
        assert "The Cellar" not in text
        assert "Content-Security-Policy" in headers


async def test_files_beside_the_page_are_not_served(serve: Serve) -> None:
    url = serve(CELLAR).url
    for path in ("page/../server.py", "page/%2e%2e/server.py", "static/", "page/"):
        assert (await got(url + path))[0] in (403, 404), path


def other_address() -> str | None:
    """An address of this machine that is not loopback. No packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))
        except OSError:
            return None
        found = str(one.getsockname()[0])
    return None if found.startswith("127.") or found == "0.0.0.0" else found


def port_of(served: Served) -> int:
    return int(served.url.split(":")[2].split("/")[0])


def test_other_machines_are_refused_unless_asked(serve: Serve) -> None:
    other = other_address()
    if other is None:
        pytest.skip("this machine has no address but loopback")
    usual = serve(CELLAR)
    assert "warning" not in usual.errors.read_text()
    with socket.create_connection(("127.0.0.1", port_of(usual)), 10):
        pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((other, port_of(usual)), 10)
    asked = serve(CELLAR, "--host", other)
    with socket.create_connection((other, port_of(asked)), 10):
        pass
    told = asked.errors.read_text()
    assert "warning: this address can be reached from other machines." in told
    assert "read the run store" in " ".join(told.split())


# ---- what is said -----------------------------------------------------------------------------


def test_json_is_one_object(serve: Serve) -> None:
    served = serve(CELLAR, "--json")
    told = json.loads(served.first)
    assert told["ok"] is True
    assert told["loopback"] is True
    assert told["url"].startswith("http://127.0.0.1:")
    assert served.interrupt() == 0
    assert served.process.stdout is not None
    assert served.process.stdout.read() == ""


def test_a_port_that_is_taken_is_one_diagnostic(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            program("play", CELLAR, "--web", "--port", port),
            capture_output=True, text=True, cwd=tmp_path, env=environment(tmp_path), timeout=60,
            check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("TW0006") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = _main([str(one) for one in ("play", *arguments)])
    return code, capsys.readouterr().err


def test_a_missing_extra_is_one_diagnostic(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokenworld.play.web.verb.find_spec", lambda name: None)
    code, text = told(capsys, CELLAR, "--web")
    assert code == 2
    assert text.count("TW0811") == 1
    assert "pip install 'token-world[web]'" in text


def test_an_address_belongs_to_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    for option in (("--host", "127.0.0.1"), ("--port", "8000")):
        code, text = told(capsys, CELLAR, *option)
        assert code == 2
        assert "belong to `--web`" in text


def test_a_world_that_cannot_be_played_is_not_served(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "bad.tw").write_text("world bad {", encoding="utf-8")
    assert told(capsys, tmp_path / "bad.tw", "--web", "--port", 0)[0] == 1
    assert told(capsys, tmp_path / "none.tw", "--web", "--port", 0)[0] == 2
    assert told(capsys, CELLAR, "--web", "--port", 0, "--goal", "none_such")[0] in (1, 2)


# ---- what is passed on ------------------------------------------------------------------------


def test_every_option_of_a_game_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}

    def served(
        target: str, out: object, options: object, played: dict[str, object], *_: int
    ) -> int:
        seen.update(played)
        return 0

    monkeypatch.setattr(serving, "serve_play", served)
    assert _main(["play", str(CELLAR), "--web"]) == 0
    options = {
        f"--{name.replace('_', '-')}" for name in inspect.signature(command("play")).parameters
    }
    of_the_page = {"--web", "--host", "--port", "--json"}
    assert set(seen) == options - of_the_page - {"--world", "--run"}  # a stored run stands alone


def test_the_words_of_a_game_are_those_that_were_given(monkeypatch: pytest.MonkeyPatch) -> None:
    played = {"--plan": True, "--goal": "a b", "--store": None, "--seed": -3, "--time-limit": 2.5}
    words = serving.command("--odd; $(name).tw", played)
    asked: dict[str, object] = {}

    def kept(target: str, out: object, **options: object) -> int:
        asked.update(options, target=target)
        return 0

    monkeypatch.setattr("tokenworld.play.verb.play", kept)
    assert words[0] == sys.executable
    assert _main(list(words[words.index("play") :])) == 0
    assert asked == {
        "target": "--odd; $(name).tw", "seed": -3, "store": None, "planned": True,
        "time_limit": 2.5, "goal": "a b", "operator": False, "tour": False,
    }  # fmt: skip


def test_no_word_reaches_the_shell() -> None:
    from tokenworld.play.web.server import PageServer

    words = ("python", "a b", "$(touch pwned)", "'; touch pwned; '", "`x`", "\n", "*", "-")
    assert shlex.split(PageServer(words, title="t", key="k", host="h").command) == ["exec", *words]


async def test_a_hostile_name_is_played_and_runs_nothing(serve: Serve, tmp_path: Path) -> None:
    world = tmp_path / "a'; touch pwned; $(touch pwned) & `touch pwned` \".tw"
    shutil.copy(CELLAR, world)
    served = serve(world.name)
    async with aiohttp.ClientSession() as session, session.ws_connect(served.socket) as page:
        await Screen(page).begun()
    assert not (tmp_path / "pwned").exists()


async def test_the_settings_of_the_person_are_heeded(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "play.toml").write_text('[keys]\n"play.help" = "f12"\n', encoding="utf-8")
    served = serve(CELLAR, "--seed", 11)
    async with aiohttp.ClientSession() as session, session.ws_connect(served.socket) as page:
        screen = Screen(page)
        await screen.until("f12 Help")
        await screen.type("take brass key\r")
        await screen.until("tick 1")
    assert until(lambda: not served.games())
    with RunStore.open(served.store, writable=False) as store:
        (run,) = list_runs(store)
    assert run.header.seed == 11
    assert run.header.player == "human"


# ---- how it ends ------------------------------------------------------------------------------


@needs_proc
async def test_leaving_a_page_ends_its_game_alone(serve: Serve) -> None:
    served = serve(CELLAR)
    async with aiohttp.ClientSession() as session:
        first = await session.ws_connect(served.socket + "?width=100&height=nonsense")
        second = await session.ws_connect(served.socket)
        one, other = Screen(first, 100), Screen(second)
        await one.begun()
        await other.begun()
        assert len(served.games()) == 2
        await one.type("take brass key\r")
        await one.until("tick 1")
        assert "tick 0" in other.text
        await first.close()
        assert await asyncio.to_thread(until, lambda: len(served.games()) == 1)
        await other.type("take iron key\r")
        await other.until("tick 1")
        await second.close()
    assert await asyncio.to_thread(until, lambda: not served.games())
    with RunStore.open(served.store, writable=False) as store:
        runs = list_runs(store)
    assert [(run.ticks, run.ending and run.ending.reason) for run in runs] == [(1, "left")] * 2


@needs_proc
async def test_ctrl_c_ends_everything(serve: Serve) -> None:
    served = serve(CELLAR)
    async with aiohttp.ClientSession() as session, session.ws_connect(served.socket) as page:
        await Screen(page).begun()
        assert len(served.games()) == 1
        ended = asyncio.to_thread(served.interrupt)
        closed = asyncio.create_task(_closed(page))
        assert await ended == 0
        assert await closed == 1001
    assert not served.games()
    assert served.errors.read_text().endswith("stopped\n")
    assert "Traceback" not in served.errors.read_text()


async def _closed(page: aiohttp.ClientWebSocketResponse) -> int | None:
    async for _ in page:
        pass
    return page.close_code


@needs_proc
async def test_a_game_does_not_outlive_a_server_that_was_killed(serve: Serve) -> None:
    served = serve(CELLAR)
    async with aiohttp.ClientSession() as session, session.ws_connect(served.socket) as page:
        await Screen(page).begun()
        (game,) = served.games()
        served.process.send_signal(signal.SIGKILL)
        served.process.wait()
        assert await asyncio.to_thread(until, lambda: game not in served.games())
    with RunStore.open(served.store, writable=False) as store:
        (run,) = list_runs(store)
    assert run.ending is not None


@needs_proc
async def test_a_game_that_does_not_end_is_killed(serve: Serve) -> None:
    served = serve(CELLAR)
    async with aiohttp.ClientSession() as session, session.ws_connect(served.socket) as page:
        await Screen(page).begun()
        (game,) = served.games()
        os.kill(game, signal.SIGSTOP)  # it hears nothing any more
        assert await asyncio.to_thread(served.interrupt) == 0
    assert not served.games()


NONSENSE = (
    "no json", "[]", '["stdin"]', '["stdin", 5]', '["resize", {"width": "x"}]', "{}", "null", "1",
)  # fmt: skip


async def test_a_page_that_talks_nonsense_is_left(serve: Serve) -> None:
    served = serve(CELLAR)
    async with aiohttp.ClientSession() as session:
        for nonsense in NONSENSE:
            async with session.ws_connect(served.socket) as page:
                await page.send_str(nonsense)
                assert await _closed(page) == 1003, nonsense
    assert "Traceback" not in served.errors.read_text()
    assert (await got(served.url))[0] == 200


async def test_a_paste_of_many_lines_leaves_the_game_alive(serve: Serve) -> None:
    served = serve(CELLAR)
    async with aiohttp.ClientSession() as session, session.ws_connect(served.socket) as page:
        screen = Screen(page)
        await screen.begun()
        await screen.type("\x1b[200~" + "fly to the moon\n" * 10_000 + "\x1b[201~")
        await screen.until("10,000 pasted lines", "> fly to the moon")
        await screen.type("\r")
        await screen.until("tick 0", "+1")
        await screen.type("\x1b")
        await screen.until("Type a command, or press F2")
        await screen.type("take brass key\r")
        await screen.until("tick 1")


async def test_a_page_is_as_large_as_it_says(serve: Serve) -> None:
    served = serve(CELLAR)
    async with aiohttp.ClientSession() as session, session.ws_connect(served.socket) as page:
        await page.send_json(["resize", {"width": 10**9, "height": -5}])
        await page.send_json(["resize", {"width": 80, "height": 24}])
        await page.send_json(["stdin", "\ud800"])
        await page.send_json(["focus"])
        await Screen(page).until("^Q Quit")


# ---- who is answered, how many, and what --------------------------------------------------------


def headers_of(served: Served, **changed: str) -> dict[str, str]:
    host = f"127.0.0.1:{port_of(served)}"
    return {"Host": host, "Origin": f"http://{host}", **changed}


@pytest.mark.parametrize(
    "strange",
    [
        {"Host": "evil.example", "Origin": "http://evil.example"},  # its name was made to lead here
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "[", "Origin": "http://["},
    ],
)
async def test_another_host_and_another_page_are_refused(
    serve: Serve, strange: dict[str, str]
) -> None:
    served = serve(CELLAR)
    async with aiohttp.ClientSession() as session:
        for address in (served.url, served.socket.replace("ws", "http", 1)):
            async with session.get(address, headers=headers_of(served, **strange)) as answer:
                assert answer.status in (400, 403)
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(served.socket, headers=headers_of(served, **strange))
        async with session.ws_connect(served.socket, headers=headers_of(served)) as page:
            await Screen(page).begun()
    assert "Traceback" not in served.errors.read_text()


def test_names_of_this_machine_lead_here() -> None:
    for name in ("127.0.0.1:8000", "[::1]:80", "localhost", "LOCALHOST:1", "10.0.0.7", "box:8000"):
        assert leads_here(name, "Box"), name
    for name in ("evil.example", "localhost.evil.example", "", "[", "a:b:c", "127.0.0.1@evil"):
        assert not leads_here(name, "Box"), name


async def test_there_are_so_many_games_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "GAMES", 3)
    pages = server.PageServer(("head", "-c", "1"), title="t", key="k", host="127.0.0.1")
    async with TestServer(await pages._make_app()) as served, aiohttp.ClientSession() as session:
        address = str(served.make_url("/k/"))
        asked = [session.ws_connect(f"{address}ws") for _ in range(7)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        opened = [one for one in found if isinstance(one, aiohttp.ClientWebSocketResponse)]
        refused = [one for one in found if isinstance(one, aiohttp.WSServerHandshakeError)]
        assert (len(opened), [one.status for one in refused]) == (3, [503] * 4)
        status, text, _ = await got(address)
        assert status == 503
        assert "3 games are open here" in text
        await opened[0].close()
        assert await asyncio.to_thread(until, lambda: len(pages._pages) == 2)
        assert (await got(address))[0] == 200
        async with session.ws_connect(f"{address}ws"):
            assert (await got(address))[0] == 503


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("[" * 100_000 + "]" * 100_000, 1003),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, 1003),
        ('["ping", ' + "[" * 500 + "]" * 500 + "]", 1003),
        (f'["resize", {{"width": {"9" * 5000}, "height": 1}}]', 1003),
        ('["stdin", "' + "x" * (1 << 20) + '"]', 1009),
    ],
    ids=["lists", "objects", "ping", "digits", "long"],
)
async def test_what_is_nested_without_end_or_too_long_closes_the_page(
    serve: Serve, sent: str, code: int
) -> None:
    served = serve(CELLAR)
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(served.socket) as page:
            await page.send_str(sent)
            assert await _closed(page) == code
        async with session.ws_connect(served.socket) as page:
            await Screen(page).begun()
    assert "Traceback" not in served.errors.read_text()
