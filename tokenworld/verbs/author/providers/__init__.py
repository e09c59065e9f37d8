"""Providers: a script, a program, an OpenAI-compatible address, or a library of models."""
