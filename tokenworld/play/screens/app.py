"""The application: one screen over one session, its themes, settings, command palette and end."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.driver import Driver
from textual.filter import LineFilter
from textual.fuzzy import Matcher
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme

from tokenworld.diagnostics import Failure, did_you_mean, usage, visible
from tokenworld.planning.verdict import PlanStep, Verdict
from tokenworld.play.model.game import Game, fault_text
from tokenworld.play.model.hints import Topic
from tokenworld.play.model.playback import Playback, branch_from, open_playback
from tokenworld.play.screens.screen import Copied, PlayScreen
from tokenworld.play.widgets.shown import Content, VisibleText, content
from tokenworld.session import Session
from tokenworld.store.log import RunStore
from tokenworld.verbs.output import ASCII, Glyphs, fitting_glyphs, replace_bytes

if TYPE_CHECKING:
    from tokenworld.play.screens.dialogs import Form

_VIM: Final[Mapping[str, str]] = {
    "list.down": "down,j",
    "list.up": "up,k",
    "list.first": "home,g",
    "list.last": "end,G",
    "list.page_down": "pagedown,ctrl+f",
    "list.page_up": "pageup,ctrl+b",
    "pane.down": "down,j",
    "pane.up": "up,k",
    "pane.first": "home,g",
    "pane.last": "end,G",
    "play.leave": "escape,i,colon",
    "play.undo": "ctrl+z,u",
    "play.redo": "ctrl+y,ctrl+r",
    "play.source": "alt+r",
    "laws.earlier": "left,h",
    "laws.later": "right,l",
    "timeline.redo": "r,ctrl+r",
    "inspect.redo": "r,ctrl+r",
}
_SWITCHES: Final = {"watch": True, "reduced_motion": False, "tour": True}
PRESETS: Final[Mapping[str, Mapping[str, str]]] = {"vim": _VIM}


@dataclass(frozen=True, slots=True)
class Settings:
    """The user's settings: keys by the id of their binding (several separated by commas), the
    name of a theme, whether the files of the world are watched, whether animation is off, and
    whether a game begins with the tour (``None``: the first one does)."""

    keys: Mapping[str, str] = field(default_factory=dict)
    theme: str | None = None
    watch: bool = True
    reduced_motion: bool = False
    tour: bool | None = None


def settings_path() -> Path:
    """``$TW_PLAY_SETTINGS``, else ``tw/play.toml`` in the user's folder for configuration."""
    named = os.environ.get("TW_PLAY_SETTINGS")
    if named:
        return Path(named)
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(folder) / "tw" / "play.toml"


def read_settings(path: Path, ids: frozenset[str], themes: tuple[str, ...]) -> Settings:
    """The settings of a file; none where there is no file.

    Raises `Failure` with TW0006 for a file that does not fit: unknown entries, ids and the like.
    """
    try:
        # Not by pydantic: the message on a wrong name has the nearest known one.
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise _wrong(path, f"it cannot be read: {error}", "Write it as TOML.") from None
    for entry in found:
        _known(path, "entry", entry, ("preset", "theme", *_SWITCHES, "keys"))
    keys: dict[str, str] = {}
    if "preset" in found:
        keys |= PRESETS[_known(path, "preset", found["preset"], tuple(PRESETS))]
    own = found.get("keys", {})
    if not isinstance(own, dict):
        raise _wrong(
            path, "`keys` is no table", 'Write `[keys]`, then lines as `"play.undo" = "u"`.'
        )
    for name, key in own.items():
        _known(path, "key id", name, tuple(sorted(ids)))
        if not isinstance(key, str) or not all(one.strip() for one in key.split(",")):
            raise _wrong(path, f"the keys of `{name}` are no text", 'Write them as `"ctrl+z,u"`.')
        for one in key.split(","):
            _pressed(path, name, one.strip())
        keys[name] = key
    theme = found.get("theme")
    theme = None if theme is None else _known(path, "theme", theme, themes)
    watch, still, tour = (_switch(path, found, name) for name in _SWITCHES)
    return Settings(keys, theme, watch, still, tour if "tour" in found else None)


def remember_tour(path: Path) -> None:
    """Write into the settings that the tour was shown, if they can be written."""
    line = "tour = false  # It was shown. `tw play --tour` shows it again.\n"
    with suppress(OSError):
        if path.exists():
            replace_bytes(path, line.encode() + path.read_bytes())
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(line, encoding="utf-8")


def _switch(path: Path, found: Mapping[str, object], name: str) -> bool:
    value = found.get(name, _SWITCHES[name])
    if not isinstance(value, bool):
        other = str(not _SWITCHES[name]).lower()
        hint = f"Write `{name} = {other}`, or leave it out."
        raise _wrong(path, f"`{name}` is no truth value", hint)
    return value


_MODIFIERS: Final = ("ctrl", "alt", "shift", "super", "hyper", "meta")
_NAMED_KEYS: Final = frozenset((*(key.value for key in Keys), *KEY_NAME_REPLACEMENTS.values()))


def _pressed(path: Path, name: str, key: str) -> None:
    """Raise `Failure` unless a terminal may send a key of this name."""
    *held, last = key.split("+")
    for one in held:
        if one not in _MODIFIERS:
            hint = did_you_mean(one, _MODIFIERS) or "Write `ctrl`, `alt` or `shift` before `+`."
            raise _wrong(path, f"`{key}` for `{name}` is no key", hint)
    if not (len(last) == 1 or last in _NAMED_KEYS or key_to_character(last)):
        hint = did_you_mean(last, sorted(_NAMED_KEYS)) or 'Write a key as `"ctrl+z"` or `"f5"`.'
        raise _wrong(path, f"`{key}` for `{name}` is no key", hint)


def _known(path: Path, what: str, name: object, known: tuple[str, ...]) -> str:
    if isinstance(name, str) and name in known:
        return name
    hint = did_you_mean(str(name), known) or f"Known are: {', '.join(known)}."
    raise _wrong(path, f"there is no {what} `{name}`", hint)


def _wrong(path: Path, reason: str, hint: str) -> Failure:
    return usage(f"The settings `{path}` do not fit: {reason}.", hint)


RED_GREEN: Final = Theme(
    name="red-green-blind",
    primary="#0072b2",
    secondary="#56b4e9",
    accent="#f0e442",
    success="#56b4e9",
    warning="#f0e442",
    error="#e69f00",
    foreground="#e8e8e8",
    background="#101418",
    surface="#1c2228",
    panel="#28303a",
    dark=True,
)
"""For protanopia and deuteranopia: sky blue for good, orange for bad."""

BLUE_YELLOW: Final = Theme(
    name="blue-yellow-blind",
    primary="#a3446f",
    secondary="#009e73",
    accent="#cc79a7",
    success="#009e73",
    warning="#cc79a7",
    error="#ff6a3d",
    foreground="#e8e8e8",
    background="#141214",
    surface="#221e22",
    panel="#302a30",
    dark=True,
)
"""For tritanopia: bluish green for good, vermilion for bad."""

THEMES: Final = (RED_GREEN, BLUE_YELLOW)


def _palette() -> type:

    return PlayCommands


@dataclass(frozen=True, slots=True)
class Watched:
    """A stored run to look at in place of a game, and the store that it is in."""

    store: RunStore
    playback: Playback


class PlayApp(App[None]):
    """Plays a session. All state is in its `Game`; the screen only shows it."""

    CSS_PATH = Path(__file__).parents[1] / "play.tcss"
    COMMANDS: ClassVar[set[type | Callable[[], type]]] = App.COMMANDS | {_palette}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", key_display="^Q", priority=True, id="play.quit"),
    ]

    def __init__(
        self,
        session: Session,
        *,
        plan: tuple[PlanStep, ...] = (),
        plan_verdict: Verdict | None = None,
        glyphs: Glyphs | None = None,
        settings: Settings | None = None,
        driver: type[Driver] | None = None,
        watched: Watched | None = None,
        tour: bool = False,
    ) -> None:
        """``tour``: the game begins with the tour."""
        super().__init__(driver)
        self._tour = tour
        self._settings = settings or Settings()
        self._watched = watched
        self.begun: list[Session] = []
        for theme in THEMES:
            self.register_theme(theme)
        self.title = visible(session.world.world.title)
        self._visible = VisibleText()
        self.game = Game(session, glyphs or fitting_glyphs(), plan, plan_verdict)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Nothing is drawn that a terminal would obey or that nobody can see."""
        return [*super().get_line_filters(), self._visible]

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a notification, without markup."""
        shown = visible(message)
        super().notify(shown, title=title, severity=severity, timeout=timeout, markup=False)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Textual's own commands, but for those that the game has: a picture is among the exports,
        and the keys of a pane are in the help."""
        found = super().get_system_commands(screen)
        return (one for one in found if one.title not in ("Screenshot", "Keys"))

    def on_mount(self) -> None:
        self.set_keymap(dict(self._settings.keys))
        if self._settings.theme is not None:
            self.theme = self._settings.theme
        if self._settings.reduced_motion:
            self.animation_level = "none"
        self.set_class(self.game.glyphs is ASCII, "-ascii")
        if self._watched is None:
            self._show_game()
        else:
            self._look_at(self._watched.playback)

    def _show_game(self) -> None:
        settings = self._settings
        blinks = not settings.reduced_motion
        screen = PlayScreen(self.game, watch=settings.watch, blinks=blinks, tour=self._tour)
        self._tour = False
        self.push_screen(screen)

    # ---- stored runs ----------------------------------------------------------------------------

    @property
    def _store(self) -> RunStore | None:
        """The store in which runs are looked for and branches are recorded."""
        if self._watched is not None:
            return self._watched.store
        recording = self.game.session.recording
        return None if recording is None else recording.store

    def action_runs(self) -> None:
        """Pick a stored run and look at it."""
        from tokenworld.play.screens.watching import RunsScreen

        store = self._store
        if store is None:
            self.notify("Nothing is recorded here, so there are no runs.")
        else:
            self.push_screen(RunsScreen(store.path), self.open_run)

    def open_run(self, reference: str | None) -> None:
        """Look at a run of the store; its rules are read beside the screen."""
        if reference is not None and self._store is not None:
            self._open_run(self._store.path, reference)

    @work(thread=True, exclusive=True, group="runs")
    def _open_run(self, path: Path, reference: str) -> None:
        try:
            playback = open_playback(path, reference)
        except Failure as failure:
            self.call_from_thread(self.notify, fault_text(failure), severity="error")
            return
        self.call_from_thread(self._look_at, playback)

    def _look_at(self, playback: Playback) -> None:
        from tokenworld.play.screens.watching import WatchScreen

        def left(place: int | None) -> None:
            if place is not None:
                self._branch(playback)
            elif not isinstance(self.screen, PlayScreen):
                self.exit()

        self.push_screen(WatchScreen(playback, self.game.glyphs), left)

    def _branch(self, playback: Playback) -> None:
        """Continue from the present place of a stored run, in a new run."""
        run, place = playback.run.slug, playback.place
        try:
            assert self._store is not None
            session = branch_from(self._store, playback)
        except Failure as failure:
            self.notify(fault_text(failure), severity="error")
            self._look_at(playback)
            return
        assert session.recording is not None
        self.begun.append(session)
        self.game = Game(session, self.game.glyphs)
        self.game.note(f"{session.recording.slug} leaves {run} after record {place}.")
        while isinstance(self.screen, PlayScreen):
            self.pop_screen()
        self._show_game()

    async def action_quit(self) -> None:
        """Quit; ask first only where something would be lost. Asked for again, it is sure."""
        if not self.game.would_lose():
            self.exit()
            return
        from tokenworld.play.screens.dialogs import QuitDialog

        if isinstance(self.screen, QuitDialog):
            self.exit()
            return
        self.push_screen(QuitDialog(), lambda sure: self.exit() if sure else None)


def key_bindings() -> tuple[Binding, ...]:
    """The keys of every screen and list."""
    from tokenworld.play.screens.advised import AdvisedScreen
    from tokenworld.play.screens.dialogs import AskDialog, HelpDialog, QuitDialog, SaveDialog
    from tokenworld.play.screens.guided import GuidedScreen
    from tokenworld.play.screens.inspecting import InspectScreen
    from tokenworld.play.screens.jump import JumpScreen
    from tokenworld.play.screens.quality import QualityScreen
    from tokenworld.play.screens.timeline import TimelineScreen, TraceScreen
    from tokenworld.play.screens.watching import RunsScreen, WatchScreen
    from tokenworld.play.widgets.actions import CommandLine
    from tokenworld.play.widgets.texts import KeyedList, KeyedScroll, QualityStrip

    owners = (PlayApp, PlayScreen, GuidedScreen, AdvisedScreen, TimelineScreen, InspectScreen,
              SaveDialog, AskDialog, HelpDialog, QuitDialog, CommandLine, KeyedList, KeyedScroll,
              QualityScreen, QualityStrip, TraceScreen, RunsScreen,
              WatchScreen, JumpScreen)  # fmt: skip
    return tuple(one for owner in owners for one in owner.BINDINGS if isinstance(one, Binding))


def binding_ids() -> frozenset[str]:
    """Return the ids of all bindings, whose keys a user may change."""
    return frozenset(one.id for one in key_bindings() if one.id is not None)


def user_settings() -> Settings:
    """The settings of the user's file, if there is one; `Failure` TW0006 where it does not fit."""
    path = settings_path()
    if not path.exists():
        return Settings()
    themes = (*BUILTIN_THEMES, *(one.name for one in THEMES))
    return read_settings(path, binding_ids(), themes)


# ---- the command palette -------------------------------------------------------------------------


_Entry = tuple[str, str, Callable[[], object]]


_AHEAD: tuple[tuple[str, str, Topic], ...] = (
    ("hint: distance to the goal", "How many ticks it takes at least", "distance"),
    ("hint: landmarks in order", "What every way to the goal passes through", "landmarks"),
    ("hint: last winnable tick", "Where the goal was last in reach", "last chance"),
)


_EXPORTS: tuple[tuple[str, str, Form], ...] = (
    ("export: story", "What was asked and said, as Markdown", "markdown"),
    ("export: records", "Every outcome, as JSON lines", "jsonl"),
    ("export: plan", "What was done, as calls", "plan"),
    ("export: script", "Everything that was asked", "script"),
    ("export: save this as a test", "A scenario, after the rules of the world", "scenario"),
    ("export: picture", "The screen as SVG", "svg"),
)


_COPIES: tuple[tuple[Copied, str], ...] = (
    ("command", "The last command, as a call"),
    ("plan", "What was done, as calls"),
    ("script", "Everything that was asked"),
    ("scenario", "A scenario that gives and expects the same"),
)


def _highlighted(matcher: Matcher, name: str) -> Content:
    """The name with what fits the query marked. Textual's own way would read it as markup."""
    shown, (_, places) = content(name), matcher.fuzzy_search.match(matcher.query, name)
    for at in places:
        shown = shown.stylize(matcher.match_style, at, at + 1)
    return shown


class PlayCommands(Provider):
    """The commands of the palette; their names begin with their area: do, plan, view, time."""

    async def discover(self) -> Hits:
        for name, told, run in self._screen_entries():
            yield DiscoveryHit(name, run, help=told)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, told, run in (*self._screen_entries(), *self._commands()):
            score = matcher.match(name)
            if score > 0:
                yield Hit(score, _highlighted(matcher, name), run, help=told)

    def _play(self) -> PlayScreen:
        return cast(PlayScreen, self.screen)

    def _screen_entries(self) -> Iterator[_Entry]:
        if not isinstance(self.screen, PlayScreen):
            return
        screen = self._play()

        def show(pane: str) -> Callable[[], None]:
            return partial(screen.action_show, pane)

        yield "hint: next step", "The next step towards the goal", screen.action_hint
        yield "hint: next three steps", "Towards the goal", partial(screen.tell_steps, 1)
        yield "hint: whole plan", "Every step towards the goal", partial(screen.tell_steps, 2)
        for name, told, topic in _AHEAD:
            yield name, told, partial(screen.action_ahead, topic)
        if screen.game.next_step() is not None:
            yield "plan: step", "Play the next step of the plan", screen.action_play_step
            yield "plan: run", "Play the rest of the plan", screen.action_play_plan
        yield "time: undo", "Take the last step back", screen.action_undo
        yield "time: redo", "Do again what was undone", screen.action_redo
        yield "time: timeline", "Jump, branch, compare, dead-end radar", screen.action_timeline
        yield "view: reload", "Go on with the world's files as they are now", screen.action_reload
        yield "view: new rule", "For words that mean nothing yet", screen.action_scaffold
        yield "time: go on", "Let time pass until the long action is done", screen.action_go_on
        yield "view: operator mode", "Every object, and the quality", screen.action_operator
        yield "view: quality", "The run's seven dimensions, and its verdict", screen.action_quality
        yield "view: laws", "Which laws ran in a tick, and what each did", screen.action_laws
        yield "time: open run…", "Look at a stored run, an agent's too", screen.action_runs
        yield "time: set by hand", "Try a value: nothing of it is recorded", screen.action_edit
        yield "time: drop trial", "Forget what was set by hand", screen.action_drop
        yield "view: inspect", "Every slot, who is in what, and maps", screen.action_inspect
        for name, told, form in _EXPORTS:
            yield name, told, partial(screen.action_save, form)
        for what, told in _COPIES:
            name = "test" if what == "scenario" else what
            yield f"export: copy as {name}", told, partial(screen.action_copy, what)
        yield "plan: make it possible", "A way to what was refused", screen.action_satisfy
        yield "view: what cannot be done", "With the reasons; or hide it", screen.action_everything
        yield "view: actions", "What you can do now", show("actions")
        yield "view: ticks", "Every tick so far", show("ticks")
        yield "view: source", "The rule under the cursor; or hide it", screen.action_source
        yield "view: tour", "Six steps through this screen", screen.action_tour
        yield "view: jump to a pane", "By a letter on each", screen.action_jump
        yield "view: details", "Why, and the record of a tick", show("details")
        yield "view: help", "How to play, and all keys", screen.action_help

    def _commands(self) -> Iterator[_Entry]:
        if not isinstance(self.screen, PlayScreen):
            return
        for one in self._play().game.legal():
            yield f"do: {one.text}", "A command of this world", partial(self._play().give, one.text)
