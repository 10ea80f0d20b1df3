"""A queue's Job templates: the one in git, and copies of those that its Jobs and lanes still have.

git holds only what is wanted. Each template that is in use is kept in an object of the manager's own, named
by its content and never changed, until nothing uses it any more (promise 16).
"""

import hashlib
from base64 import b32encode
from collections.abc import Container
from typing import Any

import yaml

from wqc.contract.names import TEMPLATE_LABEL
from wqc.runtime.stores.store import JobStore, Template


def digest_of(text: str) -> str:
    """16 characters that stand for a template; they fit into a label and a name."""
    return b32encode(hashlib.sha256(text.encode()).digest()[:10]).decode().lower()


class Templates:
    """`text` is the current template; `formerly` the queue's former name, if it had one. Raises ValueError
    for a template that isn't YAML.
    """

    def __init__(self, queue: str, text: str, store: JobStore, formerly: str = "") -> None:
        self._queue = queue
        self._formerly = formerly
        self._store = store
        self._text = text
        self.current = digest_of(text)
        self._templates = {self.current: _parsed(text, self.current)}
        self._kept: set[str] = set()

    def __contains__(self, digest: object) -> bool:
        return digest in self._templates

    def __getitem__(self, digest: str) -> dict[str, Any]:
        """The Job as `wqc build` wrote it; it says which template it is made from.

        The current one in place of a copy that somebody deleted.
        """
        return self._templates.get(digest) or self._templates[self.current]

    async def load(self) -> None:
        """Read the copies, and keep one of the current template. Raises Refused."""
        if self._formerly:
            for each in await self._store.templates(self._formerly):
                await self._store.keep_template(self._queue, each)
                await self._store.forget_template(self._formerly, each.digest)
        for each in await self._store.templates(self._queue):
            self._templates[each.digest] = _parsed(each.text, each.digest)
            self._kept.add(each.digest)
        if self.current not in self._kept:
            await self._store.keep_template(self._queue, Template(self.current, self._text))
            self._kept.add(self.current)

    @property
    def older(self) -> list[str]:
        """The copies of templates that aren't the current one."""
        return sorted(self._kept - {self.current})

    async def forget_unused(self, used: Container[str]) -> None:
        """Raises Refused."""
        for digest in self.older:
            if digest not in used:
                await self._store.forget_template(self._queue, digest)
                self._kept.discard(digest)
                del self._templates[digest]


def _parsed(text: str, digest: str) -> dict[str, Any]:
    try:
        template: dict[str, Any] = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"job.yaml: {error}") from None
    labels = template.setdefault("metadata", {}).setdefault("labels", {})
    labels[TEMPLATE_LABEL] = digest
    return template
