"""Extend the rules of a given world by what rows show besides."""
