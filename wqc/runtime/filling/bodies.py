"""From items to what a source of a format reads as them."""

import base64
from typing import Any

from wqc.runtime.sources.body import body_text
from wqc.runtime.text import decode, encode, scalar

FIELD = "item"
"""Of a stream's entry, for what has no fields of its own."""


def body_of_line(line: bytes, format: str) -> bytes:
    """Raises ValueError for a line that isn't what the format says."""
    body_text(line, format)
    return line


def body_of_data(data: str, format: str) -> bytes:
    """`data`: an item's, as JSON. Text comes out as it is, and bytes as they were before they were JSON."""
    if format == "json":
        return data.encode(errors="surrogatepass")
    match decode(data):
        case {"base64": str(text)} if format == "bytes":
            return base64.b64decode(text)
        case str() as text:
            return text.encode(errors="surrogatepass")
        case _:
            return data.encode(errors="surrogatepass")


def fields_of(body: bytes, format: str) -> dict[str, bytes]:
    """Of an entry of a stream: those of a JSON object, or one field."""
    try:
        value = decode(body)
    except ValueError:
        value = None
    if not isinstance(value, dict) or not value:
        return {FIELD: body}
    return {name: _field(each, format) for name, each in value.items()}


def _field(value: Any, format: str) -> bytes:
    text = None if format == "json" else scalar(value)
    return (encode(value) if text is None else text).encode(errors="surrogatepass")
