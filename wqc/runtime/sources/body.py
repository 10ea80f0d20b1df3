"""A message's body as an item's data: `format = json | text | bytes`."""

import base64
from collections.abc import Mapping
from typing import Any

from wqc.runtime.text import decode, encode

FORMATS = ("json", "text", "bytes")

Body = bytes | Mapping[bytes, bytes]
"""Fields by name where a message consists of several, as the entry of a Redis stream does."""


def body_text(body: Body, format: str) -> str:
    """The item's data as JSON; of a message with fields an object of them. Raises ValueError."""
    if isinstance(body, bytes):
        return encode(_value(body, format, "it"))
    return encode(
        {_key(name): _value(value, format, f"its field {_key(name)}") for name, value in body.items()}
    )


def body_as_is(body: Body) -> Any:
    """What can be shown of a body that isn't what its format says: text, or else base64."""
    if isinstance(body, bytes):
        try:
            return body.decode()
        except UnicodeDecodeError:
            return _base64(body)
    return {_key(name): body_as_is(value) for name, value in body.items()}


def _value(body: bytes, format: str, what: str) -> Any:
    if format == "bytes":
        return _base64(body)
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{what} isn't UTF-8: byte {error.start} is 0x{body[error.start]:02x}") from None
    if format == "text":
        return text
    try:
        return decode(text)
    except ValueError as error:
        raise ValueError(f"{what} isn't JSON: {error}") from None


def _key(name: bytes) -> str:
    return name.decode(errors="backslashreplace")


def _base64(body: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(body).decode()}
