"""The sidecar's end of the unix socket: the wrapper in the worker's container asks, in JSON, a text a line.

Of the wrapper: `{"take": true}`, and after an attempt
`{"report": {"exit": 1, "timed_out": false, "message": ""}}`.

To the wrapper: `{"item": {"data": …, "stdin": …, "fields": {…}}}`, bytes in base64: work on it, maybe again;
`{"over": true}`: end with 0; `{}`: take the next. The last two only when the broker knows what was reported.
"""

import asyncio
import base64
import json
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wqc.runtime.batch.item import Item
from wqc.runtime.batch.worker import Gone, Report, Worker


class Wrapper:
    """A worker in another container, seen through the socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.gone = asyncio.Event()
        self._requests: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._writer = writer
        self._reading = asyncio.create_task(self._read(reader))

    async def wants_item(self) -> None:
        """Returns when it does. Raises Gone."""
        await self._request("take")

    async def work(self, item: Item) -> Report:
        fields = {name: _base64(text.encode()) for name, text in item.fields.items()}
        self.answer(
            item={"data": _base64(item.data.encode()), "stdin": _base64(item.stdin), "fields": fields}
        )
        match await self._request("report"):
            case {"exit": int(exit), "timed_out": bool(late), "message": str(message)}:
                return Report(exit, late, message)
            case _:
                raise Gone

    def answer(self, **answer: Any) -> None:
        if not self.gone.is_set():
            self._writer.write(json.dumps(answer).encode() + b"\n")

    async def close(self) -> None:
        self._reading.cancel()
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _request(self, kind: str) -> Any:
        """What it says under that name. Raises Gone if it says anything else, or has gone."""
        getting = asyncio.create_task(self._requests.get())
        leaving = asyncio.create_task(self.gone.wait())
        try:
            await asyncio.wait((getting, leaving), return_when=asyncio.FIRST_COMPLETED)
            if getting.done() and kind in getting.result():
                return getting.result()[kind]
            raise Gone
        finally:
            getting.cancel()
            leaving.cancel()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                self._requests.put_nowait(json.loads(line))
        except (OSError, ValueError):
            pass  # it died in the middle of a line
        finally:
            self.gone.set()


Serve = Callable[[Worker], Awaitable[bool]]
"""Does what a worker that asks for a message is there for; whether it is to ask again. Raises Gone."""


@dataclass(frozen=True, slots=True)
class Listener:
    server: asyncio.Server
    sessions: set[asyncio.Task[None]]

    async def close(self, patience: float) -> None:
        """What is held is given back: the worker's container has ended before this one is told to."""
        self.server.close()
        if self.sessions:
            _, late = await asyncio.wait(self.sessions, timeout=patience)
            for session in late:
                session.cancel()


async def listen(path: Path, serve: Serve) -> Listener:
    """One wrapper at a time is served; the kubelet's probes just connect. Raises OSError."""
    sessions: set[asyncio.Task[None]] = set()
    alone = asyncio.Lock()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = asyncio.current_task()
        assert session
        sessions.add(session)
        wrapper = Wrapper(reader, writer)
        try:
            await wrapper.wants_item()
            async with alone:
                while await serve(wrapper):
                    wrapper.answer()
                    await wrapper.wants_item()
            wrapper.answer(over=True)
        except Gone:
            pass
        finally:
            sessions.discard(session)
            await wrapper.close()

    path.unlink(missing_ok=True)
    before = os.umask(0o117)  # for this user and its group
    try:
        return Listener(await asyncio.start_unix_server(connected, path), sessions)
    finally:
        os.umask(before)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
