"""Any service that speaks the Source API: a plain one after the book (two endpoints), or one of our own."""

import asyncio
from typing import Any
from urllib.parse import quote, urlencode

import urllib3

from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError
from wqc.runtime.text import decode, encode

LARGEST = 64 * 1024 * 1024
"""Bytes of an answer; a service that sends more is broken or hostile."""


class HttpSource:
    """`timeout`: seconds that an answer may take. `token`: for `Authorization: Bearer`."""

    def __init__(self, url: str, timeout: float, token: str | None = None) -> None:
        self._url = url.rstrip("/") + "/api/v1/items"
        self._headers = {"Accept": "application/json"} | (
            {"Authorization": f"Bearer {token}"} if token else {}
        )
        self._seconds = timeout
        self._timeout = urllib3.Timeout(connect=min(timeout, 5.0), read=timeout)
        self._pool = urllib3.PoolManager(maxsize=16, retries=False)
        self._pages: dict[str, tuple[str, Any]] = {}
        """By address: the ETag, and what came with it."""

    async def list(self) -> Listing:
        versions: dict[str, str] = {}
        settling = False
        page = ""
        seen = {page}
        while True:
            body = await self._ask(self._url + (f"?{urlencode({'continue': page})}" if page else ""))
            names, known = _names(body), _versions(body)
            versions |= {name: known.get(name, "") for name in names}
            settling = settling or body.get("settling") is True
            page = body.get("continue") or ""
            if not page:
                return Listing(versions, settling)
            if not isinstance(page, str) or page in seen:
                raise SourceError(f"{self._url} never comes to its last page")
            seen.add(page)

    async def get(self, name: str) -> str:
        body = await self._ask(f"{self._url}/{quote(name.encode(errors='surrogatepass'), safe='')}")
        if "data" not in body:
            raise SourceError(f"{self._url} gave the item without `data`")
        try:
            return encode(body["data"])
        except ValueError as error:
            raise SourceError(f"{self._url} gave data that isn't JSON: {error}") from None

    async def close(self) -> None:
        self._pool.clear()

    async def _ask(self, url: str) -> dict[str, Any]:
        try:
            return await asyncio.wait_for(asyncio.to_thread(self._request, url), self._seconds)
        except TimeoutError:
            raise SourceError(f"{url} gave no complete answer in time") from None

    def _request(self, url: str) -> dict[str, Any]:
        etag, known = self._pages.get(url, ("", None))
        headers = self._headers | ({"If-None-Match": etag} if etag else {})
        try:
            answer = self._pool.request(
                "GET", url, headers=headers, timeout=self._timeout, preload_content=False, redirect=False
            )
            try:
                body = answer.read(LARGEST + 1, decode_content=True)
            finally:
                answer.release_conn()
        except urllib3.exceptions.HTTPError as error:
            raise SourceError(f"{url} can't be reached: {_cause(error)}") from None
        if answer.status == 304 and known is not None:
            return dict(known)
        if answer.status == 404:
            raise NoSuchItem(f"{url} answers 404: it isn't there")
        if answer.status != 200:
            raise SourceError(f"{url} answers {answer.status}")
        if len(body) > LARGEST:
            raise SourceError(f"{url} sends more than {LARGEST} bytes")
        try:
            value = decode(body)
        except ValueError:
            raise SourceError(f"{url} doesn't answer with JSON") from None
        if not isinstance(value, dict):
            raise SourceError(f"{url} doesn't answer with a JSON object")
        if url.partition("?")[0] == self._url:
            self._pages[url] = (answer.headers.get("ETag", ""), value)
        return value


def _names(body: dict[str, Any]) -> list[str]:
    match body:
        case {"kind": "ItemList", "items": list(names)} if all(isinstance(name, str) for name in names):
            return names
    raise SourceError('the listing isn\'t {"kind": "ItemList", "items": [names…]}')


def _versions(body: dict[str, Any]) -> dict[str, str]:
    match body.get("versions"):
        case None:
            return {}
        case dict(versions) if all(isinstance(each, str) for each in versions.values()):
            return versions
    raise SourceError("the listing's `versions` isn't a map from names to strings")


def _cause(error: urllib3.exceptions.HTTPError) -> str:
    return str(error).partition(": ")[2] or type(error).__name__
