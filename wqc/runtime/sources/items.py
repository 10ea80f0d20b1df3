"""A list in the workflow itself: names, or a map from names to data."""

from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError
from wqc.runtime.text import encode


class ItemsSource:
    def __init__(self, items: object) -> None:
        """Raises SourceError for anything but a list of strings or a map with strings as keys."""
        match items:
            case list() if all(isinstance(name, str) for name in items):
                self._items: dict[str, object] = {name: name for name in items}
            case dict() if all(isinstance(name, str) for name in items):
                self._items = dict(items)
            case _:
                raise SourceError("`items` is neither a list of names nor a map from names to data")

    async def list(self) -> Listing:
        return Listing(dict.fromkeys(self._items, ""))

    async def get(self, name: str) -> str:
        if name not in self._items:
            raise NoSuchItem(f"there is no item {name}")
        try:
            return encode(self._items[name])
        except ValueError as error:
            raise SourceError(str(error)) from None

    async def close(self) -> None:
        pass
