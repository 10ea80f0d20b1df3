"""Message bodies as data, by format."""

import json
from collections.abc import Mapping

import pytest

from wqc.runtime.sources.body import body_as_is, body_text


@pytest.mark.parametrize(
    ("format", "body", "data"),
    [
        ("json", b'{"n": [1, "\xc3\xa9"]}', {"n": [1, "é"]}),
        ("json", b"17", 17),
        ("text", b"apple", "apple"),
        ("text", b"", ""),
        ("bytes", b"\xff\x00", {"base64": "/wA="}),
        ("bytes", b"", {"base64": ""}),
        ("text", {b"name": b"bob", b"\xff": b"1"}, {"name": "bob", "\\xff": "1"}),
        ("json", {b"n": b"1", b"tags": b'["a"]'}, {"n": 1, "tags": ["a"]}),
        ("bytes", {b"n": b"1"}, {"n": {"base64": "MQ=="}}),
    ],
)
def test_a_body_becomes_data(format: str, body: bytes | Mapping[bytes, bytes], data: object) -> None:
    assert json.loads(body_text(body, format)) == data


@pytest.mark.parametrize(
    ("format", "body", "reason"),
    [
        ("json", b"apple", "it isn't JSON: Expecting value: line 1 column 1 (char 0)"),
        ("json", b"", "it isn't JSON: Expecting value: line 1 column 1 (char 0)"),
        ("json", b"NaN", "it isn't JSON: NaN is not JSON"),
        ("json", b"[" * 100_000, "it isn't JSON: nested deeper than 500 levels"),
        ("json", b'"\xff"', "it isn't UTF-8: byte 1 is 0xff"),
        ("json", b"1e999", "it isn't JSON: 1e999 is larger than any number that can be worked with"),
        ("text", b"caf\xe9", "it isn't UTF-8: byte 3 is 0xe9"),
        ("json", {b"n": b"1", b"name": b"bob"}, "its field name isn't JSON: Expecting value: line 1"),
    ],
)
def test_what_the_format_cannot_say_is_told_apart(
    format: str, body: bytes | Mapping[bytes, bytes], reason: str
) -> None:
    with pytest.raises(ValueError) as failed:  # noqa: PT011  # the text is what is tested
        body_text(body, format)
    assert str(failed.value).startswith(reason)


def test_what_failed_can_still_be_shown() -> None:
    assert body_as_is(b"not json") == "not json"
    assert body_as_is(b"\xff") == {"base64": "/w=="}
    assert body_as_is({b"a": b"\xff", b"b": b"x"}) == {"a": {"base64": "/w=="}, "b": "x"}
