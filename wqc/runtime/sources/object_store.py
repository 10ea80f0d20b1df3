"""The objects of an S3 bucket: an item's name is the key, its version the ETag.

Only listed (ListObjectsV2, a thousand keys a request), never read: what an item's data needs stands in the
listing.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from wqc.runtime.sources.glob import Glob
from wqc.runtime.sources.options import Credential
from wqc.runtime.sources.source import Listing, NoSuchItem, SourceError
from wqc.runtime.text import encode
from wqc.runtime.threads import in_thread

if TYPE_CHECKING:
    from minio import Minio
    from minio.credentials.providers import Provider
    from minio.datatypes import Object

REQUEST = 20.0
"""Seconds for one page."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Without keys, requests are anonymous. `match` is for what follows `prefix` in a key."""

    endpoint: str
    bucket: str
    prefix: str = ""
    match: str = "**"
    region: str = "us-east-1"
    access_key: Credential | None = None
    secret_key: Credential | None = None
    path_style: bool = True


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the last listing said of the keys, which are sorted; as compact as can be, for there are many."""

    keys: list[str]
    sizes: "array[int]"
    modified: "array[float]"


class ObjectStoreSource:
    def __init__(self, bucket: Bucket) -> None:
        """Raises SourceError for an endpoint that can't be one."""
        self._where = bucket
        self._glob = Glob.of(bucket.match, hidden=True)
        self._client = _client(bucket)
        self._listing = Listing({})
        self._facts = _Facts([], array("q"), array("d"))

    async def list(self) -> Listing:
        return await in_thread(self._list)

    async def get(self, name: str) -> str:
        """From the last listing; without one, it is made first."""
        if not self._facts.keys:
            await self.list()
        facts = self._facts
        place = bisect_left(facts.keys, name)
        if place == len(facts.keys) or facts.keys[place] != name:
            raise NoSuchItem(f"{self._where.bucket} has no object {name}")
        modified = datetime.fromtimestamp(facts.modified[place], UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return encode(
            {
                "bucket": self._where.bucket,
                "key": name,
                "size": facts.sizes[place],
                "etag": self._listing.versions[name],
                "modified": modified,
            }
        )

    async def close(self) -> None:
        pass

    def _list(self) -> Listing:
        versions: dict[str, str] = {}
        facts = _Facts([], array("q"), array("d"))
        for each in self._objects():
            key = each.object_name
            if not key or key.endswith("/") or not self._glob.matches(key.removeprefix(self._where.prefix)):
                continue
            if facts.keys and key <= facts.keys[-1]:
                raise SourceError(f"{self._where.endpoint} doesn't list {self._where.bucket} in order")
            versions[key] = each.etag or ""
            facts.keys.append(key)
            facts.sizes.append(each.size or 0)
            facts.modified.append(each.last_modified.timestamp() if each.last_modified else 0.0)
        self._facts = facts
        if versions != self._listing.versions:
            self._listing = Listing(versions)
        return self._listing

    def _objects(self) -> "Iterator[Object]":
        from minio.error import MinioException, S3Error
        from urllib3.exceptions import HTTPError

        where = self._where
        name = f"{where.endpoint}: bucket {where.bucket}"
        try:
            yield from self._client.list_objects(where.bucket, prefix=where.prefix or None, recursive=True)
        except S3Error as error:
            raise SourceError(f"{name} can't be listed: {error.code}: {error.message}") from None
        except (MinioException, HTTPError, OSError, ValueError, SyntaxError) as error:
            # what isn't S3 may answer with a page
            reason = " ".join(str(error).partition(", Body:")[0].split())[:300]
            raise SourceError(f"{name} can't be listed: {reason or type(error).__name__}") from None


def _provider(where: Bucket) -> "Provider | None":
    from minio.credentials.credentials import Credentials
    from minio.credentials.providers import Provider

    if where.access_key is None or where.secret_key is None:
        return None
    access_key, secret_key = where.access_key, where.secret_key

    class Renewed(Provider):
        def retrieve(self) -> Credentials:
            return Credentials(access_key(), secret_key())

    return Renewed()


def _client(where: Bucket) -> "Minio":
    from minio import Minio
    from urllib3 import PoolManager, Retry, Timeout

    parts = urlsplit(where.endpoint)
    if parts.path not in ("", "/"):
        raise SourceError(f"{where.endpoint} can't be an object store's endpoint: it has a path")
    try:
        client = Minio(
            parts.netloc,
            credentials=_provider(where),
            region=where.region,
            secure=parts.scheme == "https",
            http_client=PoolManager(timeout=Timeout(connect=5.0, read=REQUEST), retries=Retry(2, redirect=0)),
        )
    except ValueError as error:
        raise SourceError(f"{where.endpoint} can't be an object store's endpoint: {error}") from None
    if where.path_style:
        client.disable_virtual_style_endpoint()  # type: ignore[no-untyped-call]
    else:
        client.enable_virtual_style_endpoint()  # type: ignore[no-untyped-call]
    return client
