"""Pods, whoever runs in them."""

from collections.abc import Mapping
from typing import NamedTuple

from wqc.emit.objects.containers import Container
from wqc.emit.objects.volumes import Volume
from wqc.language.values import Raw


class Pod(NamedTuple):
    """A pod's spec. `deadline` is in seconds, 0 for none.

    `keeps_ownership`: a claim's files keep their owner. `raw` are the fields that the file gives itself.
    """

    service_account: str
    user: int
    restricted: bool
    keeps_ownership: bool
    containers: tuple[Container, ...]
    volumes: tuple[Volume, ...]
    init_containers: tuple[Container, ...] = ()
    restart_policy: str = ""
    deadline: int = 0
    node_selector: Mapping[str, str] = {}
    raw: tuple[Mapping[str, Raw], ...] = ()
