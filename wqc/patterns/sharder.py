"""The sharder: each item to exactly one member, by rendezvous hashing of a key.

Rendezvous hashing (Thaler and Ravishankar 1996): every member is scored with the key and the highest score
wins, so that adding or removing a member moves only that member's items. Frozen by test vectors: a change
would move every item.
"""

import hashlib
import json
import math
from base64 import b64encode
from dataclasses import dataclass
from typing import Any

from wqc.contract.expression import EvaluationFailed, Expression
from wqc.patterns.item import Failed, Item, Sent, Step


@dataclass(frozen=True, slots=True)
class Sharder:
    key: Expression
    shards: tuple[str, ...]
    reads_data = True

    def route(self, item: Item) -> Step:
        try:
            key = canonical_key(self.key.evaluate(item.name, item.version, item.data))
        except EvaluationFailed as error:
            return Failed(f"key: {error}")
        return (Sent(ranked(key, self.shards)[0], item),)


def ranked(key: bytes, shards: tuple[str, ...]) -> tuple[str, ...]:
    """The shards, the one that the key belongs to first; who replaces it while it is unwell follows."""
    return tuple(sorted(shards, key=lambda shard: (_score(key, shard), shard), reverse=True))


def _score(key: bytes, shard: str) -> bytes:
    name = shard.encode()
    return hashlib.sha256(len(name).to_bytes(8, "big") + name + key).digest()


def canonical_key(value: Any) -> bytes:
    """One text for equal keys: JSON with sorted maps, in which 12 and 12.0 are one number.

    Raises EvaluationFailed for what JSON can't say.
    """
    try:
        return json.dumps(_canonical(value), sort_keys=True, separators=(",", ":")).encode()
    except RecursionError:
        raise EvaluationFailed("the value is nested too deeply for a key") from None


def _canonical(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            if not math.isfinite(value):
                raise EvaluationFailed(f"{value} can't be a key")
            return int(value) if value.is_integer() else value
        case bytes() | bytearray():
            return {"base64": b64encode(value).decode()}
        case list() | tuple():
            return [_canonical(each) for each in value]
        case dict():
            if not all(isinstance(name, str) for name in value):
                raise EvaluationFailed("a map with keys other than strings can't be a key")
            return {name: _canonical(each) for name, each in value.items()}
        case _:
            raise EvaluationFailed(f"a {type(value).__name__} can't be a key")
