"""Adapters: states and transitions recorded elsewhere, read into worlds and written from them."""

from __future__ import annotations
