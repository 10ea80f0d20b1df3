"""The ambassador of examples/own_source speaks the two addresses of the Source API."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import pytest

PROGRAM = Path(__file__).resolve().parent.parent / "examples" / "own_source" / "source.py"
TABLE = 'id,name,balance\n17,Ann,3.50\n"a/b ü",Bob,"1,000"\n'


@pytest.fixture
def source(tmp_path: Path) -> Iterator[str]:
    """Its address, once it answers."""
    table = tmp_path / "rows.csv"
    table.write_text(TABLE, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"TABLE": str(table), "PORT": str(port)}
    process = subprocess.Popen([sys.executable, PROGRAM], env=environment, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/api/v1/items"
    try:
        for _ in range(200):
            try:
                get(address)
                break
            except URLError:
                assert process.poll() is None
                time.sleep(0.05)
        yield address
    finally:
        process.kill()
        process.wait()


def get(address: str) -> dict[str, object]:
    with urlopen(address, timeout=10) as answer:
        read: dict[str, object] = json.load(answer)
        return read


def test_lists_the_rows(source: str) -> None:
    assert get(source) == {"kind": "ItemList", "apiVersion": "v1", "items": ["17", "a/b ü"]}


def test_gives_a_row(source: str) -> None:
    data = {"id": "17", "name": "Ann", "balance": "3.50"}
    assert get(f"{source}/17") == {"kind": "Item", "apiVersion": "v1", "data": data}


def test_names_are_encoded_in_the_path(source: str) -> None:
    data = {"id": "a/b ü", "name": "Bob", "balance": "1,000"}
    assert get(f"{source}/a%2Fb%20%C3%BC") == {"kind": "Item", "apiVersion": "v1", "data": data}


@pytest.mark.parametrize("address", ["/18", "s", "/"])
def test_nothing_else_is_there(source: str, address: str) -> None:
    with pytest.raises(HTTPError) as answer:
        get(source + address)
    assert answer.value.code == 404
