"""Following all objects of a kind: list in pages, then watch; list anew when the server lost our place.

And now and then without a reason: nothing else finds out what a watch left out.
"""

import asyncio
import contextlib
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import msgspec
import urllib3

from wqc.runtime.handover import Handover
from wqc.runtime.logs import log
from wqc.runtime.stores.kubernetes.objects import Bookmark, Event, ListMetadata, Metadata, Status
from wqc.runtime.stores.kubernetes.transport import ApiError, Transport, lines

PAGE = 500
WATCH_SECONDS = 300
"""After so long at most the server ends a watch; the next one goes on from there."""
SILENCE = 70.0
"""Bookmarks come each minute: a connection that is silent for longer is dead."""
LONGEST_PAUSE = 30.0
LEAST_PAUSE = 1.0


class _Kept(Protocol):
    """What the API server keeps."""

    @property
    def metadata(self) -> Metadata: ...


Object = TypeVar("Object", bound=_Kept)


class Page(Protocol[Object]):
    @property
    def metadata(self) -> ListMetadata: ...

    @property
    def items(self) -> list[Object]: ...


@dataclass(frozen=True)
class Followed(Generic[Object]):
    """Whom to tell what is there. All are called on the event loop."""

    begin: Callable[[], None]
    """A listing begins."""
    listed: Callable[[list[Object]], None]
    changed: Callable[[Object], None]
    gone: Callable[[Object], None]
    unsure: Callable[[str], None]
    """What was told may be out of date, until the next `listed`."""


class _Ended(Exception):
    """The watch ended as it should; the next goes on from where it was."""


async def follow(
    transport: Transport,
    path: str,
    query: Mapping[str, str],
    page: type[Page[Object]],
    kind: type[Object],
    told: Followed[Object],
    audit: float,
) -> None:
    """Never returns. `audit`: seconds between two listings at most."""
    pause = 0.0
    while True:
        begun = time.monotonic()
        try:
            told.begin()
            found, version = await _list(transport, path, query, page)
            audit_at = time.monotonic() + audit
            watch = await _open(transport, path, query, version, audit)
            # not before: who can't watch what there is doesn't know it for long
            told.listed(found)
            del found  # else it would be in memory for as long as the watch lasts
            pause = 0.0
            while True:
                opened = time.monotonic()
                version = await _read(transport, watch, path, version, kind, told)
                await asyncio.sleep(max(0.0, opened + LEAST_PAUSE - time.monotonic()))
                left = audit_at - time.monotonic()
                if left <= 0:
                    break
                watch = await _open(transport, path, query, version, left)
        except ApiError as error:
            if error.status == 410:
                await asyncio.sleep(max(0.0, begun + LEAST_PAUSE - time.monotonic()))
                continue
            told.unsure(str(error))
            pause = error.retry_after or min(max(LEAST_PAUSE, pause * 2), LONGEST_PAUSE)
            log(logging.WARNING, "watch failed", path=path, reason=str(error), pause=pause)
            await asyncio.sleep(pause)


async def _list(
    transport: Transport, path: str, query: Mapping[str, str], page: type[Page[Object]]
) -> tuple[list[Object], str]:
    found: list[Object] = []
    following = ""
    while True:
        asked = {**query, "limit": str(PAGE)} | ({"continue": following} if following else {})
        answer = decoded(await transport.ask("GET", path, asked), page)
        found += answer.items
        following = answer.metadata.continue_
        if not following:
            transport.traffic.heard(path)
            return found, answer.metadata.resource_version


async def _open(
    transport: Transport, path: str, query: Mapping[str, str], version: str, seconds: float
) -> urllib3.BaseHTTPResponse:
    """A watch from `version` on. Raises ApiError."""
    asked = {
        **query,
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": version,
        "timeoutSeconds": str(math.ceil(min(seconds, WATCH_SECONDS))),
    }
    return await asyncio.to_thread(transport.stream, path, asked, SILENCE)


async def _read(
    transport: Transport,
    watch: urllib3.BaseHTTPResponse,
    path: str,
    version: str,
    kind: type[Object],
    told: Followed[Object],
) -> str:
    """Until the server ends it; the version to go on from. Raises ApiError."""
    arrivals: Handover[list[bytes] | Exception] = Handover()
    reader = threading.Thread(target=_pass_on, args=(watch, arrivals), daemon=True, name=f"watch {path}")
    reader.start()
    try:
        while True:
            for batch in await arrivals.take():
                if isinstance(batch, _Ended):
                    return version
                if isinstance(batch, Exception):
                    raise ApiError(0, f"the watch broke off: {batch}")
                transport.traffic.heard(path)
                for line in batch:
                    version = _tell(line, kind, told)
    finally:
        with contextlib.suppress(Exception):
            watch.shutdown()  # type: ignore[attr-defined,unused-ignore]


def _pass_on(watch: urllib3.BaseHTTPResponse, arrivals: Handover[list[bytes] | Exception]) -> None:
    end: Exception = _Ended()
    with contextlib.suppress(Exception):
        try:
            for batch in lines(watch):
                arrivals.put(batch)
        except Exception as error:
            end = error
        arrivals.put(end)


def _tell(line: bytes, kind: type[Object], told: Followed[Object]) -> str:
    """The version that the line brought us to. Raises ApiError for what the server reports."""
    event = decoded(line, Event)
    if event.type == "ERROR":
        status = decoded(event.object, Status)
        raise ApiError(status.code, status.message)
    if event.type == "BOOKMARK":
        return decoded(event.object, Bookmark).metadata.resource_version
    found = decoded(event.object, kind)
    (told.gone if event.type == "DELETED" else told.changed)(found)
    return found.metadata.resource_version


Shape = TypeVar("Shape")


def decoded(content: bytes | msgspec.Raw, shape: type[Shape]) -> Shape:
    """Raises ApiError for what the API server can't have meant."""
    try:
        return msgspec.json.decode(content, type=shape)
    except msgspec.MsgspecError as error:
        raise ApiError(0, f"the API server's answer can't be read: {error}") from None
