"""Models of pydantic-ai: any of its names, such as ``anthropic:…``, or a model object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.store.usage import Usage
from tokenworld.verbs.author.asking import Message, ProviderFailure, Request, Response

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model


class PydanticAi:
    """Asks a model of pydantic-ai; it takes its key from the environment by itself."""

    name = "pydantic-ai"

    def __init__(self, model: str | Model) -> None:
        self._direct, self._messages = _library()
        self.model = model if isinstance(model, str) else model.model_name
        self._model = model

    def ask(self, request: Request) -> Response:
        """Return the joined texts of the answer; raises `ProviderFailure` for any library error."""
        wanted = {"seed": request.seed} if request.seed else None
        try:
            found = self._direct.model_request_sync(
                self._model, self._turns(request.messages), model_settings=wanted
            )
        except Exception as error:  # each provider raises errors of its own
            hint = "Check `--model`, the key in the environment, and the network."
            lines = str(error).splitlines() or [type(error).__name__]
            raise ProviderFailure(f"failed: {lines[0]}", hint) from None
        text = "".join(one.content for one in found.parts if one.part_kind == "text")
        usage = found.usage
        return Response(text, Usage(usage.input_tokens or None, usage.output_tokens or None))

    def close(self) -> None:
        """Do nothing: no connection stays open between two requests."""

    def _turns(self, messages: tuple[Message, ...]) -> list[ModelMessage]:
        m = self._messages
        turns: list[ModelMessage] = []
        for one in messages:
            if one.who == "assistant":
                turns.append(m.ModelResponse([m.TextPart(one.text)]))
            elif one.who == "system":
                turns.append(m.ModelRequest([m.SystemPromptPart(one.text)]))
            else:
                turns.append(m.ModelRequest([m.UserPromptPart(one.text)]))
        return turns


def _library() -> tuple[Any, Any]:
    try:
        from pydantic_ai import direct, messages
    except ImportError:
        message = "`--provider pydantic-ai` needs the package pydantic-ai."
        hint = "Run `pip install 'token-world[author]'`, and the extra of your provider."
        raise Failure(Diagnostic("TW0811", message, hint=hint)) from None
    return direct, messages
