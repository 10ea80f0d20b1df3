"""The samples of registered mistakes, compiled."""

from collections.abc import Mapping
from functools import cache

from wqc.diagnostics.mistake import sample_files
from wqc.diagnostics.source import Source
from wqc.emit.lock import LOCK, parse
from wqc.pipeline import Built, Options, Unreadable, build


@cache
def built(sample: str) -> Built:
    """A sample as `sample.wq`, with the further files that it brings: imports, an earlier build's lock."""
    files = sample_files(sample)

    def read(importer: Source, path: str) -> Source:
        if path not in files:
            raise Unreadable("there is no such file")
        return Source(path, files[path])

    def earlier_queues(workflow: str) -> Mapping[str, str]:
        return parse(files[LOCK]).queues if LOCK in files else {}

    return build(Source("sample.wq", files[""]), Options(read=read, earlier_queues=earlier_queues))
