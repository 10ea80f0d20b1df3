"""The state as a file: STATE/state.json, changed under the lock STATE/state.lock."""

import asyncio
import contextlib
import fcntl
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path

import msgspec

from wqc.runtime.stores.local import durable
from wqc.runtime.stores.state import Conflict, State, Unread
from wqc.runtime.stores.store import Refused


class _Saved(msgspec.Struct):
    """`version`: how often it was written."""

    version: int
    entries: dict[str, str]


LOOK = 0.2
"""Seconds between two looks at the file."""


class LocalStateStore:
    """`folder` is the local store's."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "state.json"
        self._lock = folder / "state.lock"

    async def changes(self) -> AsyncIterator[State | Unread]:
        last: State | Unread | None = None
        while True:
            try:
                seen: State | Unread = self._read()
            except Refused as refused:
                seen = Unread(str(refused))
            if seen != last:
                last = seen
                yield seen
            await asyncio.sleep(LOOK)

    async def read(self) -> State:
        return self._read()

    async def write(self, changes: Mapping[str, str | None], version: str | None = None) -> State:
        return await asyncio.to_thread(self._write, changes, version)

    async def close(self) -> None:
        pass

    def _read(self) -> State:
        try:
            saved = msgspec.json.decode(self._file.read_bytes(), type=_Saved)
            return State(saved.entries, str(saved.version))
        except FileNotFoundError:
            return State()
        except OSError as error:
            raise Refused(f"{self._file} can't be read: {error.strerror}") from None
        except msgspec.MsgspecError:
            raise Refused(
                f"{self._file} is damaged; move it away: pauses and how far a rollout is are forgotten with "
                "it, and nothing of the items"
            ) from None

    def _write(self, changes: Mapping[str, str | None], version: str | None) -> State:
        with self._alone():
            state = self._read()
            if version not in (None, state.version):
                raise Conflict(f"{self._file} is of version {state.version}")
            entries = {key: text for key, text in {**state.entries, **changes}.items() if text is not None}
            new = State(entries, str(int(state.version or 0) + 1))
            content = json.dumps({"version": int(new.version), "entries": entries}, indent=1)
            durable.write(self._file, content.encode())
            return new

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            lock = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
            finally:
                os.close(lock)
        except OSError as error:
            raise Refused(f"{self._file} can't be written: {error.strerror}") from None
