"""Recorded transitions: rows of files, states read into worlds and written, answers and scorers."""

from __future__ import annotations
