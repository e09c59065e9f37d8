"""A page in Chromium: the contents of its terminal, its requests and its errors."""

from __future__ import annotations

import time
from types import TracebackType

from playwright.sync_api import Browser, Error, Page

__all__ = ["Tab", "prefers"]

# textual-serve keeps its terminal to itself: take hold of it when it is given its renderer.
_HOLD = """
Object.defineProperty(Object.prototype, "canvasAddon", {
  configurable: true,
  set(addon) {
    window.shownTerminal = this.terminal;
    Object.defineProperty(this, "canvasAddon", { value: addon, writable: true });
  },
});
"""
_READ = """
() => {
  const terminal = window.shownTerminal;
  if (!terminal) return "";
  const lines = [];
  for (let row = 0; row < terminal.rows; row++)
    lines.push(terminal.buffer.active.getLine(row)?.translateToString(true) ?? "");
  return lines.join("\\n");
}
"""
_GONE = "WebSocket is already in CLOSING or CLOSED state"
"""textual-serve sends a lost focus to a game that has ended, which is harmless."""


class Tab:
    """One tab; leaving it fails if its page had an error or a request to another address."""

    def __init__(self, browser: Browser, url: str, **options: object) -> None:
        self.page: Page = browser.new_page(**options)  # type: ignore[arg-type]
        self.errors: list[str] = []
        self.asked: list[str] = []
        self.home = url
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("websocket", lambda socket: self.asked.append(socket.url))
        self.page.add_init_script(_HOLD)

    def _heard(self, message: object) -> None:
        told = getattr(message, "text", "")
        if getattr(message, "type", "") in ("error", "warning") and _GONE not in told:
            self.errors.append(told)

    def __enter__(self) -> Tab:
        self.page.goto(self.home)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.page.close()
        if error is None:
            assert self.errors == []
            assert self.strays() == []

    def strays(self) -> list[str]:
        """Requests outside the page's own address."""
        below = self.home.rpartition("/")[0].partition("://")[2]
        return [
            url
            for url in self.asked
            if not url.startswith("data:") and not url.partition("://")[2].startswith(below)
        ]

    @property
    def text(self) -> str:
        """The text of the terminal on the page."""
        try:
            return str(self.page.evaluate(_READ))
        except Error as error:
            if "navigation" not in error.message:
                raise
            return ""  # it was just left for another

    def until(self, *parts: str, seconds: float = 45.0) -> str:
        end = time.monotonic() + seconds
        while not all(part in (text := self.text) for part in parts):
            assert time.monotonic() < end, f"{parts} did not come:\n{text}\n{self.errors}"
            self.page.wait_for_timeout(50)
        return text

    def give(self, command: str) -> None:
        """Type a command on the keyboard, key by key."""
        self.page.keyboard.type(command)
        self.page.keyboard.press("Enter")


def prefers(scheme: str, width: int = 1100) -> dict[str, object]:
    """Options of a tab for a user who prefers light or dark pages."""
    return {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
