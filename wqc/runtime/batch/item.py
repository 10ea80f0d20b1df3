"""What a worker gets of a message."""

from dataclasses import dataclass

from wqc.contract.limits import SMALL_ITEM_BYTES
from wqc.runtime.queue.attempt import item_fields
from wqc.runtime.sources.body import Body, body_text


@dataclass(frozen=True, slots=True)
class Item:
    """`data` is JSON; `stdin` the body as it was sent; `fields` have a file each in `WORK_ITEM_DIR`."""

    data: str
    stdin: bytes
    fields: dict[str, str]


def item_of(body: Body, format: str) -> Item:
    """Raises ValueError for a body that isn't what the format says."""
    data = body_text(body, format)
    stdin = body if isinstance(body, bytes) else data.encode()
    return Item(data, stdin, item_fields(data) if len(data.encode()) <= SMALL_ITEM_BYTES else {})
