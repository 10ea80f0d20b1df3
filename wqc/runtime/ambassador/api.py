"""The Source API over any sources: the two addresses of the book, and what our manager asks for beyond them.

GET  …/api/v1/items              ?limit=&continue=, or Prefer: maxpagesize=; Prefer: wanted=; If-None-Match
GET  …/api/v1/items/NAME         the name percent-encoded, `/` too
POST …/api/v1/items/NAME/done    for sources that hold an item until they are told
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes

from wqc.runtime.ambassador.pages import Page, Pages
from wqc.runtime.httpserver import Answer, Request, refusal
from wqc.runtime.logs import LOGGER
from wqc.runtime.sources.source import BoundedSource, HoldingSource, NoSuchItem, Source, SourceError

ITEMS = "/api/v1/items"
_PAGE_SIZE = re.compile(r"(?:^|[,;\s])maxpagesize=(\d+)")
_WANTED = re.compile(r"(?:^|[,;\s])wanted=(\d{1,9})")


class SourceApi:
    """`sources` by the path that they are served below: `` for the root, `films`, `repositories/api`."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._pages = {path: Pages(source) for path, source in sources.items()}

    async def answer(self, request: Request) -> Answer:
        try:
            return await self._answer(request)
        except NoSuchItem as error:
            return refusal(404, str(error))
        except SourceError as error:
            return refusal(503, str(error))
        except Exception:
            LOGGER.exception("a request failed", extra={"facts": {"path": request.path}})
            return refusal(500, "the ambassador failed; its log says how")

    async def close(self) -> None:
        for source in self._sources.values():
            await source.close()

    async def _answer(self, request: Request) -> Answer:
        before, api, after = request.path.partition(ITEMS)
        path = before.strip("/")
        if not api or path not in self._sources or after[:1] not in ("", "/"):
            known = ", ".join(f"/{path}{ITEMS}".replace("//", "/") for path in self._sources)
            return refusal(404, f"nothing is served here; there is {known}")
        name, slash, verb = after[1:].partition("/")
        if slash and (verb != "done" or not name):
            return refusal(404, "a name's `/` has to be percent-encoded")
        method = "POST" if slash else "GET"
        if request.method != method:
            return refusal(405, f"only {method} makes sense here", Allow=method)
        if slash:
            return await self._done(path, decoded(name))
        if name:
            data = await self._sources[path].get(decoded(name))
            return Answer(200, f'{{"kind":"Item","apiVersion":"v1","data":{data}}}'.encode())
        return await self._list(path, request)

    async def _list(self, path: str, request: Request) -> Answer:
        wanted = request.query.get("limit")
        if wanted is None and (preferred := _PAGE_SIZE.search(request.headers.get("prefer", ""))):
            wanted = preferred[1]
        if wanted is not None and not (wanted.isdecimal() and int(wanted)):
            return refusal(400, f"limit={wanted} is no number of items")
        limit = int(wanted) if wanted else None
        source = self._sources[path]
        if isinstance(source, BoundedSource) and (many := _WANTED.search(request.headers.get("prefer", ""))):
            source.want(int(many[1]))
        token = request.query.get("continue")
        page: Page | None
        if token:
            page = self._pages[path].following(token, limit)
            if page is None:
                return refusal(410, "the listing has changed since its first page: begin anew")
        else:
            page = await self._pages[path].first(limit)
        etag = f'"{page.etag}"'
        if not token and etag in (request.headers.get("if-none-match", "")):
            return Answer(304, headers={"ETag": etag})
        return Answer(200, page.text(), headers={"ETag": etag})

    async def _done(self, path: str, name: str) -> Answer:
        source = self._sources[path]
        if not isinstance(source, HoldingSource):
            return refusal(405, "this source needs no word when an item is done", Allow="GET")
        await source.done(name)
        return Answer(204)


def decoded(name: str) -> str:
    """Raises NoSuchItem for what no name encodes to."""
    try:
        return unquote_to_bytes(name).decode(errors="surrogatepass")
    except UnicodeDecodeError:
        raise NoSuchItem(f"{name} is no percent-encoded UTF-8") from None
