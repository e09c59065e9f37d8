"""The widgets of the play screen, one module per area; they talk to the screen by messages."""

from __future__ import annotations
