"""What several ask for at the same moment as one command."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence


class Together:
    """`run` is called with all names that were added since it was called last."""

    def __init__(self, run: Callable[[Sequence[str]], Awaitable[None]]) -> None:
        self._run = run
        self._names: list[str] = []
        self._next: asyncio.Task[None] | None = None

    async def add(self, name: str) -> None:
        """Returns once that is done for the name; raises what `run` raises."""
        self._names.append(name)
        if self._next is None:
            self._next = asyncio.create_task(self._all())
        # who gives up waiting doesn't end it for the others
        await asyncio.shield(self._next)

    async def _all(self) -> None:
        await asyncio.sleep(0)
        names, self._names, self._next = self._names, [], None
        await self._run(names)
