"""A real client plays, plans, judges and repairs worlds by tool calls alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

VERBS = {
    *("check", "judge", "plan", "audit", "test", "explain", "signatures", "std", "format"),
    *("export_pddl", "import_pddl", "equiv"),
}
GAMES = {"open", "observe", "act", "legal", "why_not", "hint", "undo", "close"}
BROKEN = (Path(__file__).parent / "broken.tw").read_text(encoding="utf-8")


async def test_every_tool_has_its_types_and_its_words(in_memory: Any) -> None:
    async with in_memory() as caller:
        tools = {one.name: one for one in (await caller.client.list_tools()).tools}
    assert set(tools) == VERBS | GAMES
    for name, tool in tools.items():
        assert tool.description, name
        assert tool.output_schema is not None, name
        assert tool.output_schema["properties"], name
        assert "ctx" not in tool.input_schema["properties"], name


async def test_writing_is_there_on_demand_only(in_memory: Any, served: Path) -> None:
    async with in_memory() as caller:
        assert "Unknown tool" in await caller.wrong("write", file="new.tw", text="type A\n")
        told = await caller.wrong("format", source="cellar.tw", write=True)
        assert "--write" in told
    async with in_memory(write=True) as caller:
        await caller.fine("write", file="sub/new.tw", text="type A\n")
        assert (served / "sub" / "new.tw").read_text(encoding="utf-8") == "type A\n"
        assert "no `.tw` file" in await caller.wrong("write", file="new.py", text="x")
        assert "leads out" in await caller.wrong("write", file="../new.tw", text="x")
        assert "link" in await caller.wrong("write", file="out/new.tw", text="x")
        assert "link" in await caller.wrong("write", file="link.tw", text="x")
    assert not (served.parent / "new.tw").exists()


async def play(caller: Any, source: str) -> None:
    """Follow the plan of a world to its goal, after a refusal that says why."""
    start = await caller.fine("open", source=source)
    game = start["game"]
    refused = await caller.fine("act", game=game, command="take ruby")
    assert refused["status"] == "refused"
    assert "There is no ruby here." in await caller.text("observe", game=game)
    reasons = await caller.fine("why_not", game=game, command="take(ruby)")
    assert not reasons["allowed"]
    assert [one["holds"] for one in reasons["requires"]][-1] is False
    legal = (await caller.fine("legal", game=game))["legal"]
    assert legal == ["take(brass_key)", "take(iron_key)", "go(arch)"]
    for _ in range(5):
        hint = await caller.fine("hint", game=game)
        assert hint["answer"] == "winnable"
        last = await caller.fine("act", game=game, command=hint["next"])
        assert last["status"] == "executed"
    assert last["ended"]
    assert last["reached"] == ["rich"]
    before = await caller.fine("undo", game=game)
    assert not before["ended"]
    state = (await caller.fine("observe", game=game))["state"]
    assert state["format"] == "tw-state/1"
    await caller.fine("close", game=game)
    assert "no game" in await caller.wrong("observe", game=game)


async def repair(caller: Any) -> None:
    """Mend a file by what the tools say of it: a slip of syntax, a name, and a lost key."""
    await caller.fine("write", file="house.tw", text=BROKEN)
    found = await caller.fine("check", source="house.tw")
    hints = [one["hint"] for one in found["findings"]]
    assert hints == ["Did you mean `at`?", "Write `else if`."]
    await caller.fine("write", file="house.tw", text=BROKEN.replace("elif", "else if"))
    found = await caller.fine("check", source="house.tw", repair="all")
    assert [one["code"] for one in found["findings"]] == ["TW0201"]
    repaired = found["repaired"]
    assert repaired != BROKEN
    await caller.fine("write", file="house.tw", text=repaired)
    assert (await caller.fine("check", source="house.tw"))["ok"]
    plan = await caller.fine("plan", source="house.tw")
    assert plan["answer"] == "unwinnable"
    advice = await caller.text("plan", source="house.tw")
    assert "`key.at` be `hall`" in advice
    mended = repaired.replace("Key { at = tower", "Key { at = hall")
    await caller.fine("write", file="house.tw", text=mended)
    plan = await caller.fine("plan", source="house.tw")
    assert plan["plan"] == ["take(key)", "unlock(gate, key)", "go(gate)"]
    judged = await caller.fine("judge", source="house.tw", contract="free", mutants=0)
    assert judged["status"] == "accepted"


async def test_the_cellar_is_played_in_memory(in_memory: Any) -> None:
    async with in_memory() as caller:
        await play(caller, "cellar")


async def test_a_world_is_repaired_in_memory(in_memory: Any) -> None:
    async with in_memory(write=True) as caller:
        await repair(caller)


async def test_both_over_stdio(over_stdio: Any) -> None:
    async with over_stdio("--write") as caller:
        await play(caller, "cellar.tw")
        await repair(caller)


async def test_texts_are_sources_too(in_memory: Any, served: Path) -> None:
    cellar = (served / "cellar.tw").read_text(encoding="utf-8")
    async with in_memory() as caller:
        await play(caller, cellar)
        audited = await caller.fine("audit", source=cellar)
        assert audited["complete"]
        assert audited["states"]["dead"] == 0
        assert (await caller.fine("test", source=cellar))["passed"] == 4
        files = (await caller.fine("signatures", source=cellar))["files"]
        assert 'action take(it: Thing) as "take {it}"' in files["text.tw"]
        assert (await caller.fine("equiv", first=cellar, second="cellar"))["answer"] == "equivalent"
        exported = await caller.fine("export_pddl", source=cellar)
        imported = await caller.fine(
            "import_pddl", domain=exported["domain"], problems=[exported["problem"]]
        )
        assert imported["worlds"] == ["cellar"]
        assert (await caller.fine("check", source=imported["text"]))["ok"]
        laid_out = await caller.fine("format", source="type  A {  b : bool }\n")
        assert laid_out["formatted"] == "type A { b: bool }\n"


async def test_rules_and_codes_are_explained(in_memory: Any) -> None:
    async with in_memory() as caller:
        assert "read after change" in (await caller.fine("explain", code="tw0403"))["title"]
        stages = (await caller.fine("explain", source="cellar", rule="take"))["stages"]
        assert next(iter(stages)) == "source"
        assert "std.doors" in (await caller.fine("std"))["modules"]
        assert "edition 1" in await caller.text("std", module="std.doors")
        assert "std.doors" in await caller.wrong("std", module="std.door")


async def test_resources_and_prompts(in_memory: Any) -> None:
    async with in_memory() as caller:
        client = caller.client

        async def read(uri: str) -> str:
            return str((await client.read_resource(uri)).contents[0].text)

        assert "start: item*" in await read("tw://grammar")
        assert "require" in await read("tw://card/author")
        assert "TW0403: read after change" in await read("tw://errors")
        assert "# TW0403" in await read("tw://errors/TW0403")
        listed = (await read("tw://worlds")).split("\n")
        assert "cellar.tw" in listed
        assert "link.tw" not in listed
        assert "action take" in await read("tw://worlds/cellar.tw")
        prompts = {one.name for one in (await client.list_prompts()).prompts}
        assert prompts == {"author", "repair", "review"}
        told = await client.get_prompt("author", {"description": "Two jugs."})
        assert "<description>\nTwo jugs.\n</description>" in told.messages[0].content.text


@pytest.mark.parametrize(
    "uri",
    [
        "tw://errors/TW9999",
        "tw://card/nobody",
        "tw://worlds/link.tw",
        "tw://worlds/out/vault.tw",
        "tw://worlds/../vault.tw",
        "tw://worlds/%2e%2e/vault.tw",
        "tw://worlds/nothing.tw",
        "tw://nothing",
    ],
)
async def test_a_resource_that_is_not_there(in_memory: Any, uri: str) -> None:
    from mcp import MCPError

    async with in_memory() as caller:
        with pytest.raises(MCPError) as raised:
            await caller.client.read_resource(uri)
        assert "Secret" not in str(raised.value)
