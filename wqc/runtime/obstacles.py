"""What is in the way of a queue or an item: of which kind it is, for machines, and why, for people."""

from typing import Literal, NamedTuple

Kind = Literal[
    "",
    "admission",
    "api",
    "broker",
    "config",
    "failed",
    "image",
    "lost",
    "name",
    "node",
    "paused",
    "program",
    "reader",
    "source",
    "volume",
]
"""Whoever finds something in the way says which one it is. "": nobody said. docs/running.md explains them."""


class Obstacle(NamedTuple):
    kind: Kind
    why: str
