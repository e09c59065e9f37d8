"""The verb that writes worlds with language models: author."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tokenworld.cli.frame import Flag, Json, Prices, does


@does("author.verb.write_world")
def author(
    description: Annotated[Path | None, Parameter(help="A text that describes a world.")] = None,
    /,
    *,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="The folder for the result.")
    ] = None,
    provider: Annotated[
        str | None, Parameter(help="script:FILE, command:PROGRAM, http or pydantic-ai.")
    ] = None,
    model: Annotated[str, Parameter(help="The name of the model.")] = "",
    url: Annotated[str, Parameter(help="The address of `http`.")] = "https://api.openai.com/v1",
    key_env: Annotated[
        str, Parameter(help="The environment variable that has the key of `http`.")
    ] = "OPENAI_API_KEY",
    prices: Prices = None,
    reply_timeout: Annotated[float, Parameter(help="Seconds for one answer.")] = 300.0,
    contract: Annotated[
        str, Parameter(help="game, pddl, free, rows:FILE, or a JSON file.")
    ] = "game",
    direct: Annotated[
        Flag, Parameter(help="Ask once, without rounds: description in, world out.")
    ] = False,
    single: Annotated[Flag, Parameter(help="Leave out all roles but the developer.")] = False,
    without: Annotated[
        str, Parameter(help="Roles to leave out: analyst, researcher, tester, player.")
    ] = "",
    rounds: Annotated[int, Parameter(help="Rounds at most.")] = 4,
    requests: Annotated[
        int, Parameter(name="--max-requests", help="Requests to the model at most.")
    ] = 100,
    tokens: Annotated[
        int | None, Parameter(name="--max-tokens", help="Tokens in and out at most.")
    ] = None,
    cost: Annotated[float | None, Parameter(name="--max-cost", help="Cost at most.")] = None,
    seconds: Annotated[
        float | None, Parameter(name="--time-limit", help="No request after so many seconds.")
    ] = None,
    mutants: Annotated[int, Parameter(help="Changed rules that the tests must notice.")] = 20,
    seed: Annotated[int, Parameter(help="For models that take a seed; 0: none.")] = 0,
    search: Annotated[
        str | None, Parameter(help="A program that searches for the researcher.")
    ] = None,
    deny: Annotated[
        Path | None, Parameter(help="A file of texts whose search results are left out.")
    ] = None,
    resume: Annotated[
        Flag, Parameter(help="Go on with the interrupted run in the folder.")
    ] = False,
    replay: Annotated[
        Path | None, Parameter(help="Run a recorded run again, and compare each event.")
    ] = None,
    json: Json = False,
) -> None:
    """Let language models write a world from a description; the judge accepts it, or not."""
