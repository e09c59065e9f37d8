"""Tokens and costs as answers tell them: the names of several providers, totals, prices."""

from __future__ import annotations

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.store.usage import Prices, Total, Usage, read_prices, total, usage_of


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"usage": {"prompt_tokens": 11, "completion_tokens": 0}}, Usage(11, 0)),
        ({"usage": {"input_tokens": 4, "output_tokens": 2, "cost": 1}}, Usage(4, 2, 1.0)),
        ({"text": "go", "tokens_in": 7, "tokens_out": 1, "cost": 0.25}, Usage(7, 1, 0.25)),
        ({"usage": {"tokens_in": -1, "tokens_out": True, "cost": "much"}}, Usage()),
        ({"usage": None}, Usage()),
        ("go", Usage()),
    ],
)
def test_an_answer_tells_its_tokens(answer: object, found: Usage) -> None:
    assert usage_of(answer) == found


def test_a_total_invents_nothing() -> None:
    told = [Usage(1_000, 10), Usage(), Usage(500, 5, 0.5)]
    assert total(told) == Total(3, 2, 1_500, 15, None)
    assert total(told, Prices(2, 10)).cost == pytest.approx(0.5021)
    assert total(told).text == "1,500 tokens in, 15 out (told by 2 of 3 answers)"
    assert total([Usage()] * 2, Prices(1, 1)).text == "tokens not told by the model"


@pytest.mark.parametrize("text", ["free", "1", "1,2,3", "-1,2", "nan,1", "inf,1"])
def test_prices_are_two_numbers(text: str) -> None:
    with pytest.raises(Failure, match="are no two numbers"):
        read_prices(text)
