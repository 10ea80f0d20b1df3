"""How a message says which item it is."""

from collections.abc import Mapping

ITEM = "wqc-item"
VERSION = "wqc-version"


def headers(name: str, version: str) -> list[tuple[str, str | bytes | None]]:
    given = [(ITEM, name), (VERSION, version)] if version else [(ITEM, name)]
    return [(header, value.encode(errors="surrogatepass")) for header, value in given]


def identity(headers: Mapping[str, bytes | None]) -> tuple[str, str]:
    """Name and version; a message that wasn't published by a carrier has no name."""
    return _text(headers.get(ITEM)), _text(headers.get(VERSION))


def _text(value: bytes | None) -> str:
    try:
        return (value or b"").decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return (value or b"").decode(errors="backslashreplace")
