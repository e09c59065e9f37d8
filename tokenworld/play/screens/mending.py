"""The part of the play screen that mends rules while they are played: gaps, and changed files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Final, assert_never

from textual import work
from textual.binding import Binding, BindingType
from textual.message import Message

from tokenworld.diagnostics import Diagnostic, Failure, Source, read_source
from tokenworld.ground import Command
from tokenworld.play.model.game import Game
from tokenworld.play.model.records import short_place
from tokenworld.play.model.reloading import (
    Gap,
    Reloaded,
    Trial,
    Watched,
    carried_again,
    gap,
    grown,
    reload_world,
    tried,
)
from tokenworld.play.screens.advised import SatisfyingScreen
from tokenworld.play.widgets.shown import Content, content, link
from tokenworld.session import LoadFailure, OpenWorld, Session
from tokenworld.session.carrying import Carried
from tokenworld.verbs.files import replace_bytes
from tokenworld.verbs.output import Glyphs, Line, line

__all__ = [
    "FilesRead",
    "MendingScreen",
    "TrialReady",
    "diagnostic_lines",
    "gap_lines",
    "reload_lines",
    "trial_lines",
]


WATCH_SECONDS: Final = 2.0
"""How often the files are looked at; only their times are read."""

_LISTED: Final = 8
_RULE: Final = "A new rule"
_RELOAD: Final = "Changed rules"
_WRITE = link("screen.accept", "Write it and try again Enter")


class TrialReady(Message):
    """A new action for words, tried behind the rules; ``None`` where they make no phrase."""

    def __init__(self, asked: str, found: Trial | Failure | None) -> None:
        super().__init__()
        self.asked, self.found = asked, found


class FilesRead(Message):
    """The changed world begun with the game's state, ``None`` where no text differs, or why not;
    ``of`` is the world whose files were read."""

    def __init__(self, found: Carried | Failure | None, of: OpenWorld, retry: str = "") -> None:
        super().__init__()
        self.found, self.of, self.retry = found, of, retry


# ---- in words -----------------------------------------------------------------------------------


def gap_lines(found: Gap, glyphs: Glyphs) -> Iterator[Line]:
    """What failed of the words, and what comes near them."""
    yield line(f"{glyphs.no_match} {found.found.message}", "warn")
    yield (("What does not fit is ", "plain"), (found.failed, "head"), (".", "plain"))
    if found.near:
        yield line("")
        yield line("You could say", "head")
        yield from (line(f"  {one}") for one in found.near)
    yield line("")
    yield line("F11 begins a rule for these words.", "dim")


def trial_lines(found: Trial, glyphs: Glyphs) -> Iterator[Line]:
    """The new action, where it is written, and what the checker says about it."""
    place = "no file" if found.source.path is None else found.source.path.name
    if found.clean:
        yield line(f"{glyphs.executed} This goes behind the rules of `{place}`.", "good")
    else:
        yield line(f"{glyphs.refused} This does not check, so it is not written.", "bad")
    for one in found.stub.params:
        yield line(f"{one.param} stands for `{one.thing}`, any {one.kind}.", "dim")
    yield line("")
    yield from (line(text) for text in found.stub.text.splitlines())
    yield from diagnostic_lines(found.findings, (found.source,))


def diagnostic_lines(found: tuple[Diagnostic, ...], sources: tuple[Source, ...]) -> Iterator[Line]:
    """Findings of the checker, each with its place, the line there and the next step."""
    texts = {one.name: one for one in sources}
    for one in found[:_LISTED]:
        yield line("")
        yield line(f"{one.code}: {one.message}", "bad" if one.is_error else "warn")
        if one.span is not None:
            place = f"{one.span.file}:{one.span.line}:{one.span.column}"
            text = texts[one.span.file].line_text(one.span.line) if one.span.file in texts else ""
            yield line(f"  {short_place(place)} {' '.join(text.split())}".rstrip(), "dim")
        if one.hint:
            yield line(f"  {one.hint}")
    if len(found) > _LISTED:
        yield line("")
        yield line(f"and {len(found) - _LISTED} more", "dim")


def reload_lines(found: Reloaded, glyphs: Glyphs) -> Iterator[Line]:
    """What became of the state under the changed rules."""
    yield line(f"{glyphs.executed} The changed rules are in force.", "good")
    yield line(f"{found.kept} values stayed as they were.")
    yield from (line(f"{glyphs.changed} {one}") for one in found.notes)
    if found.left is not None:
        yield line("")
        yield line(f"Run {found.left} is closed here; the game goes on in {found.run}.", "dim")


# ---- in a thread --------------------------------------------------------------------------------


def _try(session: Session, asked: str, post: Callable[[Message], object]) -> None:
    try:
        post(TrialReady(asked, tried(session, asked)))
    except Failure as failure:
        post(TrialReady(asked, failure))


def _read(session: Session, retry: str, post: Callable[[Message], object]) -> None:
    world = session.world
    try:
        post(FilesRead(carried_again(world, session.state), world, retry))
    except Failure as failure:
        post(FilesRead(failure, world, retry))


# ---- on the screen ------------------------------------------------------------------------------


class MendingScreen(SatisfyingScreen):
    """Whoever builds on it gives commands. ``unknown`` are the last words that meant nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f11", "scaffold", "New rule", show=False, id="play.scaffold"),
        Binding("ctrl+n", "reload", "Reload", show=False, id="play.reload"),
    ]

    def __init__(self, game: Game, *, watch: bool = True) -> None:
        super().__init__(game)
        self.unknown = ""
        self._watch = watch
        self._trial: Trial | None = None
        self._watched = Watched(game.session)

    def give(self, intent: str | Command) -> None:
        raise NotImplementedError

    def renew(self) -> None:
        """Take over what depends on the rules: they were exchanged."""
        raise NotImplementedError

    def on_mount(self) -> None:
        if self._watch:
            self.set_interval(WATCH_SECONDS, self._look)

    def _stop_waiting(self) -> bool:
        """Also lay aside a new rule that waits for a yes."""
        self._trial = None
        return super()._stop_waiting()

    # ---- gaps -----------------------------------------------------------------------------------

    def tell_gap(self, asked: str) -> None:
        """Say what is missing for words to mean something."""
        found = gap(self.game.session, asked)
        if found is not None:
            self.unknown, self._trial = asked, None
            self._explain(gap_lines(found, self.game.glyphs), f"Why: {asked}", self._nearby(found))

    def _nearby(self, found: Gap) -> Content:
        links = [link(f"screen.near({at})", text) for at, text in enumerate(found.near[:3])]
        self._near = found.near
        return content(" ").join([*links, link("screen.scaffold", "New rule F11")])

    def action_near(self, at: int) -> None:
        """Give a command that comes near the words."""
        if at < len(self._near):
            self.give(self._near[at])

    def action_scaffold(self) -> None:
        """Begin a rule for the typed words, else for the last ones that meant nothing."""
        asked = self.meant() or self.unknown
        if not asked or self.game.session.why_not(asked).no_match is None:
            self.game.note("Type words that mean nothing yet, and press F11: a rule for them.")
            self.refresh_all()
            return
        self._stop_waiting()
        self._explain([line("Trying a rule for these words.", "head")], _RULE)
        self._draw_details()
        self._try_stub(asked, self.game.session.apart())

    @work(thread=True, exclusive=True, group="mend")
    def _try_stub(self, asked: str, twin: Session) -> None:
        _try(twin, asked, self.post_message)

    def on_trial_ready(self, event: TrialReady) -> None:
        match event.found:
            case Failure() as failure:
                self._told_wrong(failure, _RULE)
            case None:
                self._explain([line("There are no words here to make a rule of.", "warn")], _RULE)
            case Trial() as found:
                self._trial = found if found.clean and found.source.path is not None else None
                told = trial_lines(found, self.game.glyphs)
                self._explain(told, _RULE, _WRITE if self._trial is not None else None)
            case _:
                assert_never(event.found)
        self.show_keys()

    def scaffolded(self) -> Trial | None:
        """The new rule that waits for a yes."""
        return self._trial

    def action_accept(self) -> None:
        """Write the new rule that waits for a yes; else play the proposed steps."""
        trial, self._trial = self._trial, None
        if trial is None:
            super().action_accept()
            return
        try:
            _append(trial)
        except Failure as failure:
            self._told_wrong(failure, _RULE)
            self.refresh_all()
            return
        path = trial.source.path
        self.game.note(f"{self.game.glyphs.hint} `{trial.stub.name}` is written to `{path}`.")
        self._begin_reading(trial.stub.words)

    # ---- changed files --------------------------------------------------------------------------

    def _look(self) -> None:
        if self.app.screen is self and self._watched.changed():
            self.action_reload()

    def action_reload(self) -> None:
        """Read the world's files again and go on with them, where their text differs."""
        self._begin_reading("")

    def _begin_reading(self, retry: str) -> None:
        self._watched.changed()  # what is read now, the watch need not tell again
        self._read_files(retry)

    @work(thread=True, exclusive=True, group="mend")
    def _read_files(self, retry: str) -> None:
        _read(self.game.session, retry, self.post_message)

    def on_files_read(self, event: FilesRead) -> None:
        if event.of is not self.game.session.world:  # a key and the watch read the same change
            self._read_files(event.retry)
            return
        self._stop_waiting()
        match event.found:
            case Failure() as failure:
                self._told_wrong(failure, _RELOAD)
            case None:
                self.game.note("The files of this world have the text that is played.")
            case Carried() as carried:
                self._take_over(carried, event.retry)
            case _:
                assert_never(event.found)
        self.refresh_all()

    def _take_over(self, carried: Carried, retry: str) -> None:
        try:
            found = reload_world(self.game.session, carried)
        except Failure as failure:
            self._told_wrong(failure, _RELOAD)
            return
        self.unknown, self._trial = "", None
        self.game.renew(found)
        self.renew()
        self._explain(reload_lines(found, self.game.glyphs), _RELOAD)
        self._draw_details()
        if retry:
            self.give(retry)

    def _told_wrong(self, failure: Failure, title: str) -> None:
        """Show findings; the game stays as it is."""
        sources = failure.sources if isinstance(failure, LoadFailure) else ()
        head = line("Play goes on with the rules as they were.", "warn")
        self._explain([head, *diagnostic_lines(failure.diagnostics, sources)], title)
        self._draw_details()
        self.game.note(f"{self.game.glyphs.error} {failure.diagnostics[0].message} "
                       "Play goes on with the rules as they were.")  # fmt: skip


def _append(trial: Trial) -> None:
    """Put the new action into its file, all at once. Raises `Failure` (TW0001) where the file was
    changed since it was read, or cannot be written; then it is as it was."""
    path = trial.source.path
    assert path is not None
    if grown(read_source(path).text, trial.stub) != trial.source.text:
        message = f"`{path}` was changed meanwhile."
        raise Failure(Diagnostic("TW0001", message, hint="Press F11 again to try the rule anew."))
    try:
        replace_bytes(path, trial.source.text.encode("utf-8"))
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror or error}."
        hint = "Play a copy of the world in a folder of yours."
        raise Failure(Diagnostic("TW0001", message, hint=hint)) from None
