"""A source's latest listing under one ETag, whole or in pages."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

from wqc.runtime.sources.source import Listing, Source

Written = Callable[[str, str], str]

PIECE = 1000
"""Names that are written at a time, so that a long listing is never in memory as one text."""


@dataclass(frozen=True, slots=True)
class Page:
    """The names from `start` on, at most `limit` of them where there is one."""

    listing: Listing
    etag: str
    start: int = 0
    limit: int | None = None

    @property
    def end(self) -> int:
        size = len(self.listing.versions)
        return size if self.limit is None else min(self.start + self.limit, size)

    def text(self) -> Iterator[bytes]:
        """The JSON of an ItemList, piece by piece."""
        yield b'{"kind":"ItemList","apiVersion":"v1","items":['
        yield from self._joined(lambda name, version: json.dumps(name))
        yield b"]"
        if any(self.listing.versions.values()):
            yield b',"versions":{'
            yield from self._joined(lambda name, version: f"{json.dumps(name)}:{json.dumps(version)}")
            yield b"}"
        if self.listing.settling:
            yield b',"settling":true'
        if self.listing.wants_done:
            yield b',"wantsDone":true'
        if self.listing.failed:
            entries = islice(self.listing.versions, self.start, self.end)
            failed = {name: self.listing.failed[name] for name in entries if name in self.listing.failed}
            yield b',"failed":' + json.dumps(failed, separators=(",", ":")).encode()
        if self.listing.notice:
            yield b',"notice":' + json.dumps(self.listing.notice).encode()
        if self.listing.left_out:
            yield b',"leftOut":%d' % self.listing.left_out
        if self.listing.remember is not None:
            yield b',"remember":' + json.dumps(self.listing.remember).encode()
        if self.end < len(self.listing.versions):
            yield b',"continue":' + json.dumps(f"{self.etag}.{self.end}").encode()
        yield b"}"

    def _joined(self, written: Written) -> Iterator[bytes]:
        entries = islice(self.listing.versions.items(), self.start, self.end)
        first = True
        while piece := list(islice(entries, PIECE)):
            text = ",".join(written(name, version) for name, version in piece)
            yield (text if first else f",{text}").encode()
            first = False


class Pages:
    """The listing is made anew for each first page; the further ones are of the same listing."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._listing: Listing | None = None
        self._etag = ""

    async def first(self, limit: int | None) -> Page:
        """Raises SourceError."""
        listing = await self._source.list()
        if listing != self._listing:
            self._listing, self._etag = listing, _etag(listing)
        return Page(self._listing, self._etag, limit=limit)

    def following(self, token: str, limit: int | None) -> Page | None:
        """None if the listing has changed since, or the token was never one."""
        etag, _, start = token.rpartition(".")
        if self._listing is None or etag != self._etag or not start.isdecimal():
            return None
        return Page(self._listing, self._etag, int(start), limit)


def _etag(listing: Listing) -> str:
    """Of all that the listing says, so that equal listings have one tag, after a restart too."""
    digest = hashlib.blake2b(digest_size=12)
    facts = (listing.settling, listing.wants_done, listing.left_out, listing.remember)
    digest.update(" ".join(map(str, facts)).encode())
    texts = chain(*listing.versions.items(), [""], *listing.failed.items(), [listing.notice])
    for text in texts:
        encoded = text.encode(errors="surrogatepass")
        digest.update(b"%d:%b" % (len(encoded), encoded))
    return digest.hexdigest()
