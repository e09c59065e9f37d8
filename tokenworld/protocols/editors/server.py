"""The language server: requests of an editor, answered from the `Book` in one worker thread.

The loop only stores texts and sends answers, so typing never waits for a check. Checks and
everything that reads their results run in one worker, one after another; a check of a text that
has changed meanwhile is skipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method
from pygls.uris import to_fs_path

from tokenworld import __version__
from tokenworld.diagnostics import Diagnostic, Source
from tokenworld.diagnostics.positions import Positions
from tokenworld.protocols.editors import convert
from tokenworld.protocols.editors.book import Book, Project, Snapshot, Text
from tokenworld.protocols.editors.completion import completions
from tokenworld.protocols.editors.hover import hover
from tokenworld.protocols.editors.outline import TOKENS, hints, lenses, outline, shown_tokens
from tokenworld.protocols.editors.plans import Plans
from tokenworld.protocols.editors.rename import Refused, renamable, rename, uses_in_project
from tokenworld.syntax.format import format_source
from tokenworld.verbs.check import repair_text

ResultT = TypeVar("ResultT")
_PAUSE: Final = 0.05
"""Seconds without a change before a text is checked."""
_LEGEND: Final = lsp.SemanticTokensLegend(list(TOKENS), ["declaration"])
_FIX_ALL: Final = lsp.CodeActionKind.SourceFixAll


class _Protocol(LanguageServerProtocol):
    """The protocol with positions in UTF-16 units, which every editor understands."""

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(
        self, params: lsp.InitializeParams
    ) -> Generator[Any, Any, lsp.InitializeResult]:
        general = params.capabilities.general
        if general is not None:
            general.position_encodings = [lsp.PositionEncodingKind.Utf16]
        return (yield from super().lsp_initialize(params))


class Server(LanguageServer):
    """The state of one connection: texts, pending checks, published findings, plans."""

    def __init__(self) -> None:
        super().__init__(
            "tw",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
            protocol_cls=_Protocol,
            converter_factory=default_converter,
        )
        self.book = Book()
        self.worker = ThreadPoolExecutor(1, "check")
        self.pending: dict[str, asyncio.Task[None]] = {}
        self.findings: dict[str, dict[str, list[lsp.Diagnostic]]] = {}
        self.plans = Plans()
        self.has_terminal = False

    async def work(self, what: Callable[..., ResultT], *arguments: object) -> ResultT:
        """Run a function that reads or makes checks, in the worker."""
        return await asyncio.get_running_loop().run_in_executor(self.worker, what, *arguments)

    # ---- checks ------------------------------------------------------------------------------

    def schedule(self, uri: str, pause: float = 0.0) -> None:
        """Schedule a check of a text; it replaces a check that still waits."""
        waiting = self.pending.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        self.pending[uri] = asyncio.create_task(self._check(uri, pause))

    async def _check(self, uri: str, pause: float) -> None:
        await asyncio.sleep(pause)
        text = self.book.texts.get(uri)
        if text is None:
            return
        try:
            found = await self.work(self._checked_now, text, text.source)
        except Exception as error:  # internal defect: report it; check the next change afresh
            self.book.restart(text)
            said = f"{uri} could not be checked: {type(error).__name__}: {error}"
            self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, said))
            return
        if found is None or text.source is not found.source:
            return
        self._publish(uri, found)
        self._plan(text, found)

    def _checked_now(self, text: Text, source: Source) -> Snapshot | None:
        """Check the text in the worker, unless it has changed since the check was asked for."""
        return self.book.check(text.uri) if text.source is source else None

    def _publish(self, uri: str, found: Snapshot) -> None:
        """Send the current findings of all files that a text reads."""
        before = set(self.findings.get(uri, ()))
        self.findings[uri] = convert.published(self.book, found)
        for file in sorted(before | set(self.findings[uri])):
            self._send(file)

    def _send(self, file: str) -> None:
        """Publish the findings of all open texts in a file, each finding once."""
        every = [one for found in self.findings.values() for one in found.get(file, ())]
        each = [one for place, one in enumerate(every) if one not in every[:place]]
        text = self.book.texts.get(file)
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(
                uri=file,
                version=None if text is None else text.version,
                diagnostics=each,
            )
        )

    def changed(self, uri: str, pause: float) -> None:
        """Check a changed text, and the open texts that use it."""
        self.schedule(uri, pause)
        for other in self.book.users(uri):
            self.schedule(other, pause)

    def forget(self, uri: str) -> None:
        """Handle a closed text: its file counts again, and its findings are withdrawn."""
        users = self.book.users(uri)
        waiting = self.pending.pop(uri, None)
        if waiting is not None:
            waiting.cancel()
        self.book.close(uri)
        for file in self.findings.pop(uri, {uri: []}):
            self._send(file)
        for other in users:
            self.schedule(other)

    async def settled(self, uri: str) -> Text | None:
        """Return a text after its current version is checked."""
        while (task := self.pending.get(uri)) is not None and not task.done():
            await asyncio.wait([task])
        return self.book.texts.get(uri)

    async def ask(
        self, uri: str, question: Callable[[Snapshot], ResultT], default: ResultT
    ) -> ResultT:
        """Answer a question about the last check of a text, in the worker."""
        text = await self.settled(uri)
        if text is None or text.found is None:
            return default
        return await self.work(question, text.found)

    # ---- plans -------------------------------------------------------------------------------

    def _plan(self, text: Text, found: Snapshot) -> None:
        """Plan the worlds of a sound file as it is on disk, then show the answers."""
        self.plans.start(text.uri, found, self._planned)

    def _planned(self) -> None:
        able = self.client_capabilities.workspace
        if able is not None and able.code_lens is not None and able.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)
        if able is not None and able.inlay_hint is not None and able.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)


server = Server()


# ---- the life of the connection and of texts ---------------------------------------------


@server.feature(lsp.INITIALIZE)
def initialize(ls: Server, params: lsp.InitializeParams) -> None:
    """Store the folders and the options of the editor."""
    given = params.initialization_options
    options = given if isinstance(given, dict) else {}
    ls.has_terminal = options.get("terminal") is True
    seconds = options.get("planSeconds")
    if isinstance(seconds, int | float) and not isinstance(seconds, bool):
        ls.plans.seconds = max(0.0, float(seconds))
    _take_folders(ls)


@server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
def folders_changed(ls: Server, params: lsp.DidChangeWorkspaceFoldersParams) -> None:
    _take_folders(ls)


def _take_folders(ls: Server) -> None:
    uris = [one.uri for one in ls.workspace.folders.values()]
    if not uris and ls.workspace.root_uri:
        uris = [ls.workspace.root_uri]
    found = (to_fs_path(uri) for uri in uris)
    ls.book.folders = tuple(Path(one).resolve() for one in found if one)


@server.feature(lsp.SHUTDOWN)
def shut_down(ls: Server, params: None) -> None:
    """Stop the plans that still run."""
    ls.plans.stop()


@server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
def opened(ls: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    ls.book.put(document.uri, _path(document.uri), document.text, document.version)
    ls.changed(document.uri, 0.0)


@server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
def changed(ls: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    text = ls.workspace.get_text_document(uri).source
    ls.book.put(uri, _path(uri), text, params.text_document.version)
    ls.changed(uri, _PAUSE)


@server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
def saved(ls: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    """Check again, because data files and used files may have changed too."""
    ls.schedule(params.text_document.uri)


@server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
def closed(ls: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    ls.forget(params.text_document.uri)


@server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
def files_changed(ls: Server, params: lsp.DidChangeWatchedFilesParams) -> None:
    """Handle changed files on disk: any open text may use them."""
    for uri in ls.book.texts:
        ls.schedule(uri)


def _path(uri: str) -> Path | None:
    path = to_fs_path(uri) if uri.startswith("file:") else None
    return Path(path) if path else None


# ---- questions ---------------------------------------------------------------------------


@server.feature(lsp.TEXT_DOCUMENT_HOVER)
async def show_hover(ls: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    def answer(found: Snapshot) -> lsp.Hover | None:
        told = hover(found, _offset(found, params.position))
        if told is None:
            return None
        span = told[1]
        where = span and convert.range_of(found.positions, span.start, span.end)
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, told[0]), where)

    return await ls.ask(params.text_document.uri, answer, None)


@server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
async def definition(ls: Server, params: lsp.DefinitionParams) -> lsp.Location | None:
    def answer(found: Snapshot) -> lsp.Location | None:
        use = found.at(_offset(found, params.position))
        if use is None:
            return None
        source = found.source_named(use.symbol.span.file)
        return lsp.Location(ls.book.uri_of(source), convert.range_in(source, use.symbol.span))

    return await ls.ask(params.text_document.uri, answer, None)


@server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
async def references(ls: Server, params: lsp.ReferenceParams) -> list[lsp.Location]:
    def answer(found: Snapshot) -> list[lsp.Location]:
        use = found.at(_offset(found, params.position))
        if use is None:
            return []
        project = Project(ls.book, found.source)
        return [
            lsp.Location(ls.book.uri_of(source), convert.range_in(source, one.span))
            for source, one in uses_in_project(project, found, use.symbol)
            if params.context.include_declaration or not one.declares
        ]

    return await ls.ask(params.text_document.uri, answer, [])


@server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
async def highlights(
    ls: Server, params: lsp.DocumentHighlightParams
) -> list[lsp.DocumentHighlight]:
    def answer(found: Snapshot) -> list[lsp.DocumentHighlight]:
        use = found.at(_offset(found, params.position))
        uses = () if use is None else found.names.of(use.symbol)
        here = (one.span for one in uses if one.span.file == found.source.name)
        return [
            lsp.DocumentHighlight(convert.range_of(found.positions, one.start, one.end))
            for one in here
        ]

    return await ls.ask(params.text_document.uri, answer, [])


@server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
async def prepare_rename(ls: Server, params: lsp.PrepareRenameParams) -> lsp.Range | None:
    def answer(found: Snapshot) -> lsp.Range | None:
        use = found.at(_offset(found, params.position))
        _or_error(lambda: renamable(use))
        return use and convert.range_of(found.positions, use.span.start, use.span.end)

    return await ls.ask(params.text_document.uri, answer, None)


@server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
async def rename_all(ls: Server, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    def answer(found: Snapshot) -> lsp.WorkspaceEdit | None:
        use = found.at(_offset(found, params.position))
        done = _or_error(lambda: rename(ls.book, found, renamable(use), params.new_name))
        return convert.workspace_edit(ls.book, [(one.source, one.edits) for one in done])

    return await ls.ask(params.text_document.uri, answer, None)


def _or_error(what: Callable[[], ResultT]) -> ResultT:
    """Return the result, or raise an error of the protocol with the reason."""
    try:
        return what()
    except Refused as refused:
        raise JsonRpcInvalidParams(str(refused)) from None


@server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
async def format_text(ls: Server, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
    text = ls.book.texts.get(params.text_document.uri)
    if text is None:
        return []
    source = text.source
    laid_out, _ = await ls.work(format_source, source)
    return [] if laid_out is None else convert.replaced(source, laid_out)


@server.feature(
    lsp.TEXT_DOCUMENT_CODE_ACTION,
    lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix, _FIX_ALL]),
)
async def code_actions(ls: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    wanted = params.context.only

    def answer(found: Snapshot) -> list[lsp.CodeAction]:
        first, last = _offset(found, params.range.start), _offset(found, params.range.end)
        actions: list[lsp.CodeAction] = []
        if wanted is None or lsp.CodeActionKind.QuickFix in wanted:
            actions += convert.fixes(ls.book, found, first, last)
        if wanted is not None and (_FIX_ALL in wanted or lsp.CodeActionKind.Source in wanted):
            actions += _fix_all(ls, found)
        return actions

    return await ls.ask(params.text_document.uri, answer, [])


def _fix_all(ls: Server, found: Snapshot) -> list[lsp.CodeAction]:
    """Return all safe repairs as one action, as `tw check --fix` makes them."""
    source = found.source

    def check(text: str) -> tuple[Diagnostic, ...]:
        return ls.book.checked(Source(source.name, source.path, text)).diagnostics

    repaired = repair_text(source.name, source.text, check)
    if not repaired.done:
        return []
    uri = ls.book.uri_of(source)
    edit = lsp.WorkspaceEdit(changes={uri: convert.replaced(source, repaired.text)})
    return [lsp.CodeAction(title="Make all safe repairs", kind=_FIX_ALL, edit=edit)]


@server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["."]))
async def complete(ls: Server, params: lsp.CompletionParams) -> lsp.CompletionList:
    """Complete from the last check that gave a program; do not wait for a half-written line."""
    text = ls.book.texts.get(params.text_document.uri)
    if text is None:
        return lsp.CompletionList(is_incomplete=False, items=[])
    source, good = text.source, text.good

    def answer() -> lsp.CompletionList:
        offset = Positions(source.text).offset(params.position.line, params.position.character)
        program = None if good is None else good.checked.program
        found = completions(source, offset, program)
        items = [
            lsp.CompletionItem(
                one.text,
                kind=convert.ITEMS.get(one.kind, lsp.CompletionItemKind.Function),
                detail=f"{one.kind} {one.detail}".strip(),
                sort_text=f"{int(one.kind == 'keyword')}{place:04}",
            )
            for place, one in enumerate(found)
        ]
        return lsp.CompletionList(is_incomplete=False, items=items)

    return await ls.work(answer)


@server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
async def symbols(ls: Server, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    def answer(found: Snapshot) -> list[lsp.DocumentSymbol]:
        return [convert.symbol(found.positions, one) for one in outline(found)]

    return await ls.ask(params.text_document.uri, answer, [])


@server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)
async def semantic_tokens(ls: Server, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
    def answer(found: Snapshot) -> lsp.SemanticTokens:
        return lsp.SemanticTokens(convert.token_numbers(found.positions, shown_tokens(found)))

    return await ls.ask(params.text_document.uri, answer, lsp.SemanticTokens([]))


@server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
async def code_lenses(ls: Server, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    """Return plan, test and play; without an editor's terminal, the server's own commands."""
    uri = params.text_document.uri

    def answer(found: Snapshot) -> list[lsp.CodeLens]:
        if found.source.path is None:
            return []
        result = []
        for one in lenses(found):
            if one.verb == "play" and not ls.has_terminal:
                continue
            told = ls.plans.answers(uri).get(one.world, "") if one.verb == "plan" else ""
            command = lsp.Command(
                title=f"{one.verb} ▸ {told}".rstrip(),
                command=f"tw.terminal.{one.verb}" if ls.has_terminal else f"tw.{one.verb}",
                arguments=[str(found.source.path), one.world],
            )
            start = lsp.Position(found.positions.at(one.span.start)[0], 0)
            result.append(lsp.CodeLens(lsp.Range(start, start), command))
        return result

    return await ls.ask(uri, answer, [])


@server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
async def inlay_hints(ls: Server, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    uri = params.text_document.uri

    def answer(found: Snapshot) -> list[lsp.InlayHint]:
        first, last = _offset(found, params.range.start), _offset(found, params.range.end)
        return [
            lsp.InlayHint(
                lsp.Position(*found.positions.at(one.offset)), one.text, padding_left=True
            )
            for one in hints(found, ls.plans.answers(uri))
            if first <= one.offset <= last
        ]

    return await ls.ask(uri, answer, [])


@server.command("tw.plan")
async def plan_command(ls: Server, path: str, world: str) -> str:
    """Plan a world and show the answer, for editors that have no terminal of their own."""
    return await _told(ls, "plan", f"{path}:{world}")


@server.command("tw.test")
async def test_command(ls: Server, path: str, world: str) -> str:
    """Run the scenarios of a file and show how many pass."""
    return await _told(ls, "test", path)


async def _told(ls: Server, verb: str, target: str) -> str:
    said = await ls.plans.run(verb, target)
    ls.window_show_message(lsp.ShowMessageParams(type=lsp.MessageType.Info, message=said))
    return said


def _offset(found: Snapshot, position: lsp.Position) -> int:
    return found.positions.offset(position.line, position.character)
