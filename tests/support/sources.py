"""Sources whose items a test sets."""

import json
from collections.abc import Mapping
from typing import Any

from wqc.runtime.sources.source import Listing, NoSuchItem


class Holding:
    """Keeps its items until it is told that others have them. `failed`: why, by name."""

    def __init__(self, data: Mapping[str, Any], failed: Mapping[str, str] | None = None) -> None:
        self.data = dict(data)
        self.failed = dict(failed or {})
        self.told: list[str] = []

    async def list(self) -> Listing:
        failed = {name: why for name, why in self.failed.items() if name in self.data}
        return Listing(dict.fromkeys(self.data, ""), wants_done=True, failed=failed)

    async def get(self, name: str) -> str:
        if name not in self.data:
            raise NoSuchItem(name)
        return json.dumps(self.data[name])

    async def done(self, name: str) -> None:
        self.told.append(name)
        self.data.pop(name, None)

    async def close(self) -> None:
        pass


class Shared(Holding):
    """A folder: what is done stays."""

    async def list(self) -> Listing:
        return Listing(dict.fromkeys(self.data, ""))
