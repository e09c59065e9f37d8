"""The command palette: everything the screen can do, and every legal command, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.fuzzy import Matcher

from tokenworld.play.model.hints import Topic
from tokenworld.play.screens.saving import Form
from tokenworld.play.screens.screen import Copied, PlayScreen
from tokenworld.play.widgets.shown import Content, content

__all__ = ["PlayCommands"]

_Entry = tuple[str, str, Callable[[], object]]


_AHEAD: tuple[tuple[str, str, Topic], ...] = (
    ("hint: distance to the goal", "How many ticks it takes at least", "distance"),
    ("hint: landmarks in order", "What every way to the goal passes through", "landmarks"),
    ("hint: the way", "Distance and landmarks, or where the goal was lost", "way"),
    ("hint: last winnable tick", "Where the goal was last in reach", "last chance"),
)


_EXPORTS: tuple[tuple[str, str, Form], ...] = (
    ("export: story", "What was asked and said, as Markdown", "markdown"),
    ("export: records", "Every outcome, as JSON lines", "jsonl"),
    ("export: plan", "What was done, as calls", "plan"),
    ("export: script", "Everything that was asked", "script"),
    ("export: save this as a test", "A scenario, behind the rules of the world", "scenario"),
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
    """Names have a prefix that says what they touch: do, plan, view, time."""

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

        yield "plan: hint", "The next step towards the goal", screen.action_hint
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
        yield "time: timeline", "Jump, branch, name, compare", screen.action_timeline
        yield "time: dead-end radar", "Where the goal was lost", screen.action_timeline
        yield "view: reload", "Go on with the world's files as they are now", screen.action_reload
        yield "view: new rule", "For words that mean nothing yet", screen.action_scaffold
        yield "time: go on", "Let time pass until the long action is done", screen.action_go_on
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
        yield "view: details", "Why, and the record of a tick", show("details")
        yield "view: help", "How to play, and all keys", screen.action_help

    def _commands(self) -> Iterator[_Entry]:
        if not isinstance(self.screen, PlayScreen):
            return
        for one in self._play().game.legal():
            yield f"do: {one.text}", "A command of this world", partial(self._play().give, one.text)
