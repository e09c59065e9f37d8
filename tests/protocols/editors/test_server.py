"""The language server over stdio, as an editor uses it (pytest-lsp)."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
import pytest_lsp
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient

from tokenworld.diagnostics.positions import Positions, units

sys.path.insert(0, str(Path(__file__).parents[2] / "check"))

from edits import generated

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = "from tokenworld.cli import main; main()"
SERVER = [sys.executable, "-c", PROGRAM, "lsp", "--stdio"]

LAMP = """type Lamp { oil: 0 to 9 = 0  lit: bool }
type Hero { oil: 0 to 9 = 5 }
actor me: Hero
## Needs oil of one's own.
action pour(l: Lamp) as "pour oil into {l}" {
  require me.oil > 0 else none_left "You have no oil left."
  me.oil -= 1
  l.oil += 1
}
action light(l: Lamp) as "light {l}" { l.lit = true }
invariant few(l: Lamp): l.oil <= 9
world cave "The 🏮 cave" {
  object lamp: Lamp
  object ada: Hero
  goal bright: lamp.lit "It is bright 🔦."
}
scenario "it can be lit" in cave { when light(lamp) then won bright }
"""


class Editor:
    """What an editor does with one folder, in a few words."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client, self.folder = client, folder
        self.versions: dict[str, int] = {}
        self.told: dict[str, lsp.PublishDiagnosticsParams] = {}

        self.news = asyncio.Event()
        client.protocol.fm.features.pop(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # without versions

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def publish(params: lsp.PublishDiagnosticsParams) -> None:
            self.told[params.uri] = params
            self.news.set()

    async def until(self, ready: Callable[[], bool]) -> None:
        """Wait for the notification after which something holds."""
        while not ready():
            self.news.clear()
            await asyncio.wait_for(self.news.wait(), 60)

    def uri(self, name: str = "cave.tw") -> str:
        return (self.folder / name).as_uri()

    async def open(self, text: str, name: str = "cave.tw", *, saved: bool = True) -> None:
        """Open a text, saved in the folder or not, and wait for its findings."""
        if saved:
            (self.folder / name).write_bytes(text.encode())
        uri = self.uri(name)
        self.versions[uri] = 1
        document = lsp.TextDocumentItem(uri=uri, language_id="tw", version=1, text=text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
        await self.findings(name)

    def change(self, text: str, name: str = "cave.tw") -> None:
        """Replace the text, and wait for nothing."""
        uri = self.uri(name)
        self.versions[uri] += 1
        document = lsp.VersionedTextDocumentIdentifier(uri=uri, version=self.versions[uri])
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [whole]))

    async def findings(self, name: str = "cave.tw") -> list[lsp.Diagnostic]:
        """The findings of the version that was sent last."""
        uri = self.uri(name)
        await self.until(lambda: uri in self.told and self.told[uri].version == self.versions[uri])
        return list(self.told[uri].diagnostics)

    def place(
        self, text: str, word: str, name: str = "cave.tw", shift: int = 0
    ) -> dict[str, object]:
        """The document and the position of a word in a text."""
        line, unit = Positions(text).at(text.index(word) + shift)
        return {
            "text_document": lsp.TextDocumentIdentifier(self.uri(name)),
            "position": lsp.Position(line, unit),
        }


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=SERVER), scope="module", loop_scope="module"
)
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    capabilities = lsp.ClientCapabilities(
        general=lsp.GeneralClientCapabilities(
            position_encodings=[lsp.PositionEncodingKind.Utf8, lsp.PositionEncodingKind.Utf16]
        )
    )
    result = await lsp_client.initialize_session(
        lsp.InitializeParams(
            capabilities=capabilities,
            workspace_folders=[],
            initialization_options={"planSeconds": 0},
        )
    )
    assert result.capabilities.position_encoding == lsp.PositionEncodingKind.Utf16
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture(loop_scope="module")
async def editor(client: LanguageClient, tmp_path: Path) -> AsyncIterator[Editor]:
    """An editor that shows one folder; its texts are closed after the test."""
    folder = [lsp.WorkspaceFolder(uri=tmp_path.as_uri(), name="project")]

    def show(added: list[lsp.WorkspaceFolder], removed: list[lsp.WorkspaceFolder]) -> None:
        event = lsp.WorkspaceFoldersChangeEvent(added=added, removed=removed)
        params = lsp.DidChangeWorkspaceFoldersParams(event)
        client.workspace_did_change_workspace_folders(params)

    show(folder, [])
    editor = Editor(client, tmp_path)
    yield editor
    for uri in editor.versions:
        document = lsp.TextDocumentIdentifier(uri)
        client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))
    show([], folder)


def applied(text: str, edits: list[lsp.TextEdit]) -> str:
    """The text after the edits of an answer."""
    places = Positions(text)
    offsets = [
        (places.offset(e.range.start.line, e.range.start.character),
         places.offset(e.range.end.line, e.range.end.character), e.new_text)
        for e in edits
    ]  # fmt: skip
    for start, end, new in sorted(offsets, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def changed_files(edit: lsp.WorkspaceEdit | None) -> dict[str, list[lsp.TextEdit]]:
    assert edit is not None
    assert edit.document_changes is not None
    found: dict[str, list[lsp.TextEdit]] = {}
    for one in edit.document_changes:
        assert isinstance(one, lsp.TextDocumentEdit)
        found[one.text_document.uri] = [e for e in one.edits if isinstance(e, lsp.TextEdit)]
    return found


def by_check(path: Path) -> list[dict[str, object]]:
    """What `tw check --format lsp` publishes for a file."""
    command = [sys.executable, "-c", PROGRAM, "check", str(path), "--format", "lsp"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    published = json.loads(done.stdout)["published"]
    return next(one["diagnostics"] for one in published if one["uri"] == path.as_uri())


def plain(found: list[lsp.Diagnostic]) -> list[tuple[object, ...]]:
    return [
        (one.code, one.message, one.range.start.line, one.range.start.character,
         one.range.end.line, one.range.end.character, int(one.severity or 0))
        for one in found
    ]  # fmt: skip


def plain_json(found: list[dict[str, object]]) -> list[tuple[object, ...]]:
    rows = []
    for one in found:
        place = one["range"]
        assert isinstance(place, dict)
        ends = [place[end][key] for end in ("start", "end") for key in ("line", "character")]
        rows.append((one["code"], one["message"], *ends, one["severity"]))
    return rows


# ---- findings and repairs ------------------------------------------------------------------


async def test_a_sound_text_has_no_findings_and_a_change_tells_its_version(editor: Editor) -> None:
    await editor.open(LAMP)
    assert not editor.told[editor.uri()].diagnostics
    editor.change(LAMP.replace("l.lit = true", "l.lti = true"))
    (found,) = await editor.findings()
    assert found.code == "TW0201"
    assert editor.told[editor.uri()].version == 2


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_places_count_utf16_units_and_any_line_end(editor: Editor, end: str) -> None:
    text = 'type Lamp\nworld cave "🏮🏮" { object a: Lamp "🔦"  object b: Lmap }\n'
    await editor.open(text.replace("\n", end))
    (found,) = await editor.findings()
    line = text.split("\n")[1]
    assert found.range.start.line == 1
    assert found.range.start.character == units(line[: line.index("Lmap")])
    assert found.range.start.character == line.index("Lmap") + 3
    assert plain([found]) == plain_json(by_check(editor.folder / "cave.tw"))


async def test_a_repair_is_offered_and_makes_the_text_sound(editor: Editor) -> None:
    text = LAMP.replace("l.lit = true", "l.lti = true")
    await editor.open(text)
    (found,) = await editor.findings()
    actions = await editor.client.text_document_code_action_async(
        lsp.CodeActionParams(
            lsp.TextDocumentIdentifier(editor.uri()),
            found.range,
            lsp.CodeActionContext(diagnostics=[found]),
        )
    )
    assert actions
    (action,) = actions
    assert isinstance(action, lsp.CodeAction)
    assert action.kind == lsp.CodeActionKind.QuickFix
    edits = changed_files(action.edit)[editor.uri()]
    assert applied(text, edits) == LAMP
    editor.change(applied(text, edits))
    assert not await editor.findings()


async def test_all_safe_repairs_together_are_those_of_check(editor: Editor) -> None:
    text = LAMP.replace("l.lit = true", "l.litt = true").replace("l.oil += 1", "l.oill += 1")
    await editor.open(text)
    actions = await editor.client.text_document_code_action_async(
        lsp.CodeActionParams(
            lsp.TextDocumentIdentifier(editor.uri()),
            lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)),
            lsp.CodeActionContext(diagnostics=[], only=[lsp.CodeActionKind.SourceFixAll]),
        )
    )
    path = editor.folder / "cave.tw"
    command = [sys.executable, "-c", PROGRAM, "check", "--fix", str(path)]
    subprocess.run(command, capture_output=True, check=False)
    fixed = path.read_text(encoding="utf-8")
    assert fixed != text
    assert actions
    (action,) = actions
    assert isinstance(action, lsp.CodeAction)
    assert action.edit is not None
    assert action.edit.changes is not None
    assert applied(text, list(action.edit.changes[editor.uri()])) == fixed


async def test_a_used_text_under_edit_counts_before_its_file(editor: Editor) -> None:
    (editor.folder / "lamps.tw").write_text("type Lamp { lit: bool }\n", encoding="utf-8")
    user = "use lamps\naction go(l: Lamp) { l.glow = true }\nworld w { object a: Lamp }\n"
    await editor.open(user)
    (found,) = await editor.findings()
    assert found.code == "TW0201"
    await editor.open("type Lamp { lit: bool  glow: bool }\n", "lamps.tw", saved=False)
    await editor.until(
        lambda: not [d for d in editor.told[editor.uri()].diagnostics if d.severity == 1]
    )


async def test_random_edits_end_in_the_findings_of_check(editor: Editor) -> None:
    """300 edits, sent faster than they are checked; every 30th state is compared."""
    chance = random.Random(19)
    words = ["}", "{", "l", "🔦", "\r\n", " oil", '"', "#", "require ", "lit", "9", ":", "\u2028"]
    text = LAMP
    await editor.open(text)
    for number in range(300):
        at = chance.randrange(len(text) + 1)
        if chance.random() < 0.15:
            text = LAMP
        elif chance.random() < 0.5:
            text = text[:at] + chance.choice(words) + text[at:]
        else:
            text = text[:at] + text[at + chance.randrange(1, 4) :]
        editor.change(text)
        if number % 30 == 29:
            found = await editor.findings()
            path = editor.folder / "cave.tw"
            path.write_bytes(text.encode())
            assert plain(found) == plain_json(by_check(path)), text


# ---- names ----------------------------------------------------------------------------------


async def test_hover_tells_declaration_english_and_the_page_of_a_code(editor: Editor) -> None:
    await editor.open(LAMP)
    shown = await editor.client.text_document_hover_async(
        lsp.HoverParams(**editor.place(LAMP, "pour("))
    )
    assert shown is not None
    assert isinstance(shown.contents, lsp.MarkupContent)
    text = shown.contents.value
    assert "## Needs oil of one's own." in text
    assert "action pour(l: Lamp)" in text
    assert "Only if:" in text
    wrong = LAMP.replace("l.lit = true", "l.lti = true")
    editor.change(wrong)
    shown = await editor.client.text_document_hover_async(
        lsp.HoverParams(**editor.place(wrong, "lti"))
    )
    assert shown is not None
    assert isinstance(shown.contents, lsp.MarkupContent)
    assert "TW0201: unknown name" in shown.contents.value
    assert "A name is not declared" in shown.contents.value


async def test_definition_leads_to_the_name_of_the_declaration(editor: Editor) -> None:
    await editor.open(LAMP)
    place = editor.place(LAMP, "l.lit = true", shift=2)
    found = await editor.client.text_document_definition_async(lsp.DefinitionParams(**place))
    assert isinstance(found, lsp.Location)
    start = Positions(LAMP).at(LAMP.index("lit: bool"))
    assert (found.range.start.line, found.range.start.character) == start


async def test_references_of_a_type_are_found_in_the_whole_project(editor: Editor) -> None:
    (editor.folder / "lamps.tw").write_text("type Lamp { lit: bool }\n", encoding="utf-8")
    other = "use lamps\nworld other { object b: Lamp }\n"
    (editor.folder / "other.tw").write_text(other, encoding="utf-8")
    text = "use lamps\naction go(l: Lamp) { l.lit = true }\nworld w { object a: Lamp }\n"
    await editor.open(text)
    place = editor.place(text, "Lamp)")
    context = lsp.ReferenceContext(include_declaration=True)
    found = await editor.client.text_document_references_async(
        lsp.ReferenceParams(**place, context=context)
    )
    assert found is not None
    files = [one.uri.rpartition("/")[2] for one in found]
    assert sorted(files) == ["cave.tw", "cave.tw", "lamps.tw", "other.tw"]


async def test_rename_changes_every_use_and_the_meaning_stays(editor: Editor) -> None:
    twin = LAMP.replace("cave", "twin")
    (editor.folder / "twin.tw").write_text(twin, encoding="utf-8")
    await editor.open(LAMP)
    edit = await renamed(editor, LAMP, "oil > 0", "fuel")
    files = changed_files(edit)
    assert list(files) == [editor.uri()]
    after = applied(LAMP, files[editor.uri()])
    assert after.count("fuel") == 3  # that of the hero alone: `me.oil` twice, and its declaration
    assert "type Lamp { oil:" in after
    assert "l.oil += 1" in after
    editor.change(after)
    assert not await editor.findings()


async def test_rename_reaches_the_files_of_the_project_that_are_not_open(editor: Editor) -> None:
    module = "type Lamp { lit: bool }\n"
    other = "use lamps\nworld other { object b: Lamp }\n"
    (editor.folder / "lamps.tw").write_text(module, encoding="utf-8")
    (editor.folder / "other.tw").write_text(other, encoding="utf-8")
    (editor.folder / "apart.tw").write_text("type Lamp\nworld w { }\n", encoding="utf-8")
    text = "use lamps\naction go(l: Lamp) { l.lit = true }\nworld w { object a: Lamp }\n"
    await editor.open(text)
    files = changed_files(await renamed(editor, text, "Lamp)", "Torch"))
    names = {uri.rpartition("/")[2]: edits for uri, edits in files.items()}
    assert set(names) == {"cave.tw", "lamps.tw", "other.tw"}
    assert applied(module, names["lamps.tw"]) == "type Torch { lit: bool }\n"
    assert applied(other, names["other.tw"]).count("Torch") == 1
    assert applied(text, names["cave.tw"]).count("Torch") == 2


async def test_a_rule_that_comes_with_tw_is_not_renamed(editor: Editor) -> None:
    text = "use std.doors\nworld w { object d: Door }\n"
    await editor.open(text)
    place = editor.place(text, "Door")
    found = await editor.client.text_document_definition_async(lsp.DefinitionParams(**place))
    assert isinstance(found, lsp.Location)
    assert found.uri.startswith("file:")
    assert found.uri.endswith("std/doors.tw")
    with pytest.raises(JsonRpcException, match="comes with `tw`"):
        await renamed(editor, text, "Door", "Gate")


async def renamed(editor: Editor, text: str, word: str, new: str) -> lsp.WorkspaceEdit | None:
    place = editor.place(text, word)
    return await editor.client.text_document_rename_async(lsp.RenameParams(**place, new_name=new))


@pytest.mark.parametrize(
    ("word", "new", "why"),
    [
        ("pour(", "light", "declared twice"),
        ("oil > 0", "no `name", "is no name"),
        ("l: Lamp) as \"light", "me", "acting object"),
        ("world cave", "x", "no name of a declaration"),
        ("lamp: Lamp\n", "torch", "would fail"),
    ],
)  # fmt: skip
async def test_a_rename_that_would_break_something_is_refused(
    editor: Editor, word: str, new: str, why: str
) -> None:
    text = LAMP + 'scenario "typed" in cave { when "light lamp" then won bright }\n'
    await editor.open(text)
    with pytest.raises(JsonRpcException, match=why):
        await renamed(editor, text, word, new)


async def test_a_rename_that_would_capture_another_name_is_refused(editor: Editor) -> None:
    """The object `spare` is meant, not the parameter that would get its name."""
    text = LAMP.replace("world cave", "object spare: Lamp\nworld cave").replace(
        "{ l.lit = true }", "{ l.lit = spare.lit or true }"
    )
    await editor.open(text)
    with pytest.raises(JsonRpcException, match="would mean something else"):
        await renamed(editor, text, 'l: Lamp) as "light', "spare")


async def test_a_reserved_word_becomes_a_name_in_backquotes(editor: Editor) -> None:
    await editor.open(LAMP)
    edit = await renamed(editor, LAMP, "few(", "require")
    (new,) = {one.new_text for one in changed_files(edit)[editor.uri()]}
    assert new == "`require`"


# ---- the text as a whole ----------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_formatting_is_that_of_fmt(editor: Editor, end: str) -> None:
    text = LAMP.replace("  me.oil -= 1", "me.oil   -=  1").replace("\n", end)
    await editor.open(text)
    edits = await editor.client.text_document_formatting_async(
        lsp.DocumentFormattingParams(
            lsp.TextDocumentIdentifier(editor.uri()), lsp.FormattingOptions(2, True)
        )
    )
    path = editor.folder / "cave.tw"
    command = [sys.executable, "-c", PROGRAM, "fmt", str(path)]
    subprocess.run(command, capture_output=True, check=True)
    assert edits
    assert applied(text, list(edits)).encode() == path.read_bytes()


@pytest.mark.parametrize(
    ("written", "first", "missing"),
    [
        ("action put(l: Lamp) { l.", {"oil", "lit"}, {"me", "require"}),
        ("action put(l: Lamp) { me.", {"oil"}, {"lit"}),
        ("action put(l: ", {"Lamp", "Hero"}, {"lamp"}),
        ('scenario "x" in cave { when pour(lamp) then refused because ', {"none_left"}, {"oil"}),
        ("act", {"action", "actor"}, {"Lamp", "else"}),
        ('action put(l: Lamp) as "l.', set(), {"oil"}),
    ],
)
async def test_completion_of_a_line_that_is_not_finished(
    editor: Editor, written: str, first: set[str], missing: set[str]
) -> None:
    await editor.open(LAMP)
    text = f"{LAMP}{written}"
    editor.change(text)
    line, unit = Positions(text).at(len(text))
    found = await editor.client.text_document_completion_async(
        lsp.CompletionParams(lsp.TextDocumentIdentifier(editor.uri()), lsp.Position(line, unit))
    )
    assert isinstance(found, lsp.CompletionList)
    labels = {one.label for one in found.items}
    assert first <= labels
    assert not labels & missing


async def test_symbols_lenses_and_hints(editor: Editor) -> None:
    await editor.open(LAMP)
    document = lsp.TextDocumentIdentifier(editor.uri())
    found = await editor.client.text_document_document_symbol_async(
        lsp.DocumentSymbolParams(document)
    )
    assert found
    tree = {one.name: [c.name for c in one.children or ()] for one in found}  # type: ignore[union-attr]
    assert tree["Lamp"] == ["oil", "lit"]
    assert tree["cave"] == ["lamp", "ada", "bright"]
    assert "it can be lit" in tree
    lenses = await editor.client.text_document_code_lens_async(lsp.CodeLensParams(document))
    assert lenses
    titles = [(one.range.start.line, one.command.title) for one in lenses if one.command]
    world = LAMP[: LAMP.index("world cave")].count("\n")
    assert titles == [(world, "plan ▸"), (world, "test ▸"), (LAMP.count("\n") - 1, "test ▸")]
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    hints = await editor.client.text_document_inlay_hint_async(lsp.InlayHintParams(document, whole))
    assert hints
    assert [one.label for one in hints] == ["checked at run time"]


async def test_a_plan_is_told_when_it_is_asked_for(editor: Editor) -> None:
    await editor.open(LAMP)
    path = str(editor.folder / "cave.tw")
    said = await editor.client.workspace_execute_command_async(
        lsp.ExecuteCommandParams("tw.plan", [path, "cave"])
    )
    assert said.endswith("winnable in 1 tick")
    said = await editor.client.workspace_execute_command_async(
        lsp.ExecuteCommandParams("tw.test", [path, "cave"])
    )
    assert said.endswith("1 passed, 0 failed")


async def test_semantic_tokens_cover_names_texts_and_comments(editor: Editor) -> None:
    text = LAMP.replace("goal bright", "# 🔦\n  goal bright")
    await editor.open(text)
    document = lsp.TextDocumentIdentifier(editor.uri())
    found = await editor.client.text_document_semantic_tokens_full_async(
        lsp.SemanticTokensParams(document)
    )
    assert found is not None
    kinds = dict(decoded(text, list(found.data)))
    assert kinds["world"] == "keyword"
    assert kinds["Lamp"] == "type"
    assert kinds["oil"] == "property"
    assert kinds['"It is bright 🔦."'] == "string"
    assert kinds["# 🔦"] == "comment"


def decoded(text: str, data: list[int]) -> list[tuple[str, str]]:
    from tokenworld.protocols.editors.outline import TOKENS

    places, line, unit = Positions(text), 0, 0
    found = []
    for place in range(0, len(data), 5):
        down, right, width, kind, _ = data[place : place + 5]
        line, unit = line + down, right if down else unit + right
        start = places.offset(line, unit)
        found.append((text[start : places.offset(line, unit + width)], TOKENS[kind]))
    return found


async def test_texts_without_a_file_and_closed_ones(editor: Editor) -> None:
    uri = "untitled:Untitled-1"
    document = lsp.TextDocumentItem(uri=uri, language_id="tw", version=1, text="type lamp")
    editor.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
    await editor.until(lambda: uri in editor.told)
    assert editor.told[uri].diagnostics
    closed = lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri))
    editor.client.text_document_did_close(closed)
    await editor.until(lambda: not editor.told[uri].diagnostics)
    shown = await editor.client.text_document_hover_async(
        lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(0, 0))
    )
    assert shown is None


# ---- bad requests, and speed ----------------------------------------------------------------


async def test_requests_that_fit_no_text_have_empty_answers(editor: Editor) -> None:
    await editor.open(LAMP)
    far = lsp.Position(9_999, 9_999)
    for uri in (editor.uri(), editor.uri("nowhere.tw"), "untitled:none"):
        document = lsp.TextDocumentIdentifier(uri)
        hover = await editor.client.text_document_hover_async(lsp.HoverParams(document, far))
        found = await editor.client.text_document_definition_async(
            lsp.DefinitionParams(document, far)
        )
        assert hover is None
        assert found is None
        done = await editor.client.text_document_formatting_async(
            lsp.DocumentFormattingParams(document, lsp.FormattingOptions(2, True))
        )
        assert not done
    with pytest.raises(JsonRpcException, match="no name of a declaration"):
        await editor.client.text_document_rename_async(
            lsp.RenameParams(lsp.TextDocumentIdentifier(editor.uri()), far, "x")
        )
    with pytest.raises(JsonRpcException):
        await editor.client.workspace_execute_command_async(
            lsp.ExecuteCommandParams("tw.plan", [1, 2, 3])
        )


@pytest.mark.parametrize("text", ["", "\ud800 type \udfff", "{" * 3000, "world w { " * 400, "\r\r"])
async def test_any_text_is_checked(editor: Editor, text: str) -> None:
    await editor.open(LAMP)
    editor.change(text)
    await editor.findings()
    document = lsp.TextDocumentIdentifier(editor.uri())
    await editor.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    await editor.client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document))
    await editor.client.text_document_completion_async(
        lsp.CompletionParams(document, lsp.Position(0, 1))
    )
    editor.change(LAMP)
    assert not await editor.findings()


async def test_a_long_check_keeps_nobody_waiting(editor: Editor) -> None:
    """What needs no check is answered while a text of 1,800 lines is checked."""
    text = generated(40)
    await editor.open(LAMP)
    editor.change(text)
    await asyncio.sleep(0.3)  # the check has begun
    for _ in range(20):
        editor.change(text)
    answer = await editor.client.text_document_completion_async(
        lsp.CompletionParams(lsp.TextDocumentIdentifier("untitled:none"), lsp.Position(0, 0))
    )
    assert isinstance(answer, lsp.CompletionList)
    assert editor.told[editor.uri()].version == 1
    await editor.findings()
    assert editor.told[editor.uri()].version == 22
