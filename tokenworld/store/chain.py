"""The hash chain: SHA-256 over the previous hash and the canonical JSON of a record.

The first link hangs on the *genesis*, the hash of the run's header, and the genesis of a branch
holds the link of its parent. So no record, header or parent changes unseen. The chain has no
secret: whoever keeps the last link of a run elsewhere can prove that all before it is as it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from tokenworld.ground import Json

__all__ = ["canonical", "digest_of", "link", "storable"]


def canonical(value: Json) -> str:
    """Canonical JSON: sorted keys, no spaces, UTF-8.

    Raises `ValueError` for a number that JSON cannot hold (infinite, not a number, too long).
    """
    text = json.dumps(
        value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
        default=_plain,
    )
    return storable(text)


def storable(text: str) -> str:
    r"""The text with lone surrogates, which UTF-8 cannot hold, as ``\udc80``.

    A terminal hands over bytes that are not UTF-8 in this way; in JSON the escape is lossless.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return whole.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


def digest_of(value: Json) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal."""
    return _sha256(canonical(value))


def link(
    previous: str,
    *,
    seq: int,
    source: str,
    text: str | None,
    intent: Mapping[str, Json],
    outcome: Mapping[str, Json],
) -> str:
    """The chain hash of a record that follows the link (or genesis) ``previous``."""
    record: dict[str, Json] = {
        "seq": seq,
        "actor": outcome.get("actor"),
        "source": source,
        "text": text,
        "intent": intent,
        "outcome": outcome,
    }
    return _sha256(previous + canonical(record))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _plain(value: object) -> object:
    """Mappings and sequences that the JSON writer does not know as the ones that it does."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
