"""Which tests run at once: files, but those of the real node one by one, as this machine is one node."""

import re
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

_NODE = re.compile(r"\b(real|runtime)_node\b")


class Schedule(LoadFileScheduling):
    def _split_scope(self, nodeid: str) -> str:
        file = str(super()._split_scope(nodeid))
        return "real node" if _is_on_node(self.config.rootpath / file) else file


@cache
def _is_on_node(file: Path) -> bool:
    return bool(_NODE.search(file.read_text()))
