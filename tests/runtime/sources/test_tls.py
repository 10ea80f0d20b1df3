"""The client of the Source API over TLS: it trusts whom the machine trusts."""

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme

from support.badserver import always, http, server
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.source import Listing, SourceError

LISTING = http(200, '{"kind": "ItemList", "items": ["a"]}')


@pytest.fixture
def authority(tmp_path: Path) -> tuple[trustme.CA, Path]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return authority, tmp_path / "ca.pem"


def context(authority: trustme.CA, host: str) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(made)
    return made


def listing(url: str) -> Listing:
    return asyncio.run(HttpSource(url, 10).list())


def test_a_service_that_is_trusted(
    authority: tuple[trustme.CA, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority[1]))
    with server(always(LISTING), tls=context(authority[0], "127.0.0.1")) as url:
        assert listing(url) == Listing({"a": ""})


def test_a_service_that_is_not(authority: tuple[trustme.CA, Path]) -> None:
    with (
        server(always(LISTING), tls=context(authority[0], "127.0.0.1")) as url,
        pytest.raises(SourceError, match="can't be reached: its certificate isn't trusted: "),
    ):
        listing(url)


def test_a_certificate_for_another_host(
    authority: tuple[trustme.CA, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority[1]))
    with (
        server(always(LISTING), tls=context(authority[0], "elsewhere.example.com")) as url,
        pytest.raises(SourceError, match="its certificate isn't trusted: IP address mismatch"),
    ):
        listing(url)


def test_a_service_without_tls() -> None:
    with (
        server(always(LISTING)) as url,
        pytest.raises(SourceError, match=r"can't be reached: it doesn't speak TLS$"),
    ):
        listing(url.replace("http:", "https:"))
