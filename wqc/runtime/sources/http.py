"""Any service that speaks the Source API: a plain one after the book (two endpoints), or one of our own.

What a plain one may lack: pages (`continue`; asked for with a header, since a plain one may know no query),
an ETag that stands for the whole listing, `versions`, `settling`, `failed`, `notice`, `remember`, and
`wantsDone` with `POST …/done`.
"""

from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from wqc.runtime.sources.connections import Answer, Connections
from wqc.runtime.sources.options import Credential
from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError
from wqc.runtime.sources.versions import Versions
from wqc.runtime.text import decode, encode

PREFERENCES = "maxpagesize=5000"
LONGEST_REASON = 500
RESTARTS = 3
"""How often a listing begins anew because it changed between two pages."""


class HttpSource:
    """`timeout`: seconds that an answer may take. `token`: for `Authorization: Bearer`."""

    def __init__(self, url: str, timeout: float, token: Credential | None = None) -> None:
        self._url = url.rstrip("/") + "/api/v1/items"
        self._path = urlsplit(self._url).path
        self._headers = {"Accept": "application/json", "Prefer": PREFERENCES}
        self._token = token
        self._connections = Connections(self._url, timeout)
        self._etag = ""
        self._listing = Listing({})

    async def list(self) -> Listing:
        for _ in range(RESTARTS):
            listing = await self._pages()
            if listing is not None:
                return listing
        raise SourceError(f"{self._url} changes its listing from page to page")

    def want(self, count: int) -> None:
        self._headers["Prefer"] = f"{PREFERENCES}, wanted={count}"

    async def get(self, name: str) -> str:
        url = f"{self._url}/{encoded(name)}"
        answer = await self._ask("GET", url)
        if answer.status == 404:
            raise NoSuchItem(f"{url} answers 404: it isn't there")
        body = _object(url, answer)
        if "data" not in body:
            raise SourceError(f"{url} gave the item without `data`")
        try:
            return encode(body["data"])
        except ValueError as error:
            raise SourceError(f"{url} gave data that isn't JSON: {error}") from None

    async def done(self, name: str) -> None:
        url = f"{self._url}/{encoded(name)}/done"
        answer = await self._ask("POST", url)
        if answer.status not in (200, 204, 404):
            raise SourceError(refusal(url, answer))

    async def close(self) -> None:
        self._connections.close()

    async def _pages(self) -> Listing | None:
        """None if the listing changed meanwhile, so that the service has no further page of it."""
        etag = {"If-None-Match": self._etag} if self._etag else {}
        answer = await self._ask("GET", self._url, etag)
        if answer.status == 304 and self._etag:
            return self._listing
        fresh = answer.etag
        versions = Versions()
        failed: dict[str, str] = {}
        notice = ""
        settling = wants_done = False
        left_out = 0
        seen: set[str] = set()
        repeated = ""
        while True:
            body = _object(self._url, answer)
            known = _texts(self._url, body, "versions")
            failed |= _texts(self._url, body, "failed")
            for name in _names(self._url, body):
                if not versions.add(name, known.get(name, "")):
                    repeated = name
            settling = settling or body.get("settling") is True
            wants_done = wants_done or body.get("wantsDone") is True
            notice = notice or _notice(body)
            left_out = max(left_out, _count(self._url, body, "leftOut"))
            remember = _seconds(self._url, body, "remember")
            page = body.get("continue") or ""
            if not page:
                break
            if not isinstance(page, str) or page in seen:
                raise SourceError(f"{self._url} never comes to its last page")
            seen.add(page)
            answer = await self._ask("GET", f"{self._url}?{urlencode({'continue': page})}")
            if answer.status == 410:
                return None
        if repeated:
            notice = notice or f"{repeated[:LONGEST_REASON]}: it is listed more than once, which counts once"
        self._listing = Listing(versions, settling, wants_done, failed, notice, left_out, remember)
        self._etag = fresh
        return self._listing

    async def _ask(self, method: str, url: str, more: dict[str, str] | None = None) -> Answer:
        parts = urlsplit(url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        headers = self._headers | (more or {})
        if self._token:
            headers["Authorization"] = f"Bearer {self._token()}"
        try:
            return await self._connections.request(method, target, headers)
        except SourceError as error:
            raise SourceError(f"{url} {error}") from None


def encoded(name: str) -> str:
    """In a path: `.` too where it could be taken for a step in it."""
    encoded = quote(name.encode(errors="surrogatepass"), safe="")
    return encoded.replace(".", "%2E") if name in (".", "..") else encoded


def _object(url: str, answer: Answer) -> dict[str, Any]:
    if answer.status != 200:
        raise SourceError(refusal(url, answer))
    try:
        value = decode(answer.body)
    except ValueError as error:
        started = answer.body.lstrip()[:1] in (b"{", b"[")
        why = f" ({error})" if started else ""
        raise SourceError(f"{url} doesn't answer with JSON, but with {_start(answer.body)}{why}") from None
    if not isinstance(value, dict):
        raise SourceError(f"{url} doesn't answer with a JSON object, but with {_start(answer.body)}")
    return value


def refusal(url: str, answer: Answer) -> str:
    """With the reason, where the service is one of our own."""
    try:
        body = decode(answer.body)
    except ValueError:
        body = None
    reason = body.get("reason") if isinstance(body, dict) else None
    return f"{url} answers {answer.status}" + (
        f": {reason[:LONGEST_REASON]}" if isinstance(reason, str) else ""
    )


def _start(body: bytes) -> str:
    text = body[:60].decode(errors="replace")
    return repr(text + ("…" if len(body) > 60 else "")) if text else "nothing"


def _names(url: str, body: dict[str, Any]) -> list[str]:
    match body:
        case {"kind": "ItemList", "items": list(names)} if all(
            isinstance(name, str) and name for name in names
        ):
            return names
    raise SourceError(f'{url} doesn\'t answer with {{"kind": "ItemList", "items": [names…]}}')


def _texts(url: str, body: dict[str, Any], key: str) -> dict[str, str]:
    match body.get(key):
        case None:
            return {}
        case dict(texts) if all(isinstance(each, str) for each in texts.values()):
            return texts
    raise SourceError(f"{url}: the listing's `{key}` isn't a map from names to strings")


def _notice(body: dict[str, Any]) -> str:
    notice = body.get("notice")
    return notice[:LONGEST_REASON] if isinstance(notice, str) else ""


def _count(url: str, body: dict[str, Any], key: str) -> int:
    match body.get(key):
        case None:
            return 0
        case int() as count if count >= 0 and not isinstance(count, bool):
            return count
    raise SourceError(f"{url}: the listing's `{key}` isn't a number of items")


def _seconds(url: str, body: dict[str, Any], key: str) -> float | None:
    match body.get(key):
        case None:
            return None
        case int() | float() as seconds if seconds >= 0:
            return float(seconds)
    raise SourceError(f"{url}: the listing's `{key}` isn't a number of seconds")
