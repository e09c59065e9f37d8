"""Pages: the HTML, Markdown and charts of the verbs that write reports."""

from __future__ import annotations
