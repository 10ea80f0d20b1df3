"""`source-NAME.yaml` and `carrier-NAME.yaml`: the settings of what stands at the workflow's ends."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from wqc.emit.objects import settings
from wqc.emit.objects.metadata import Metadata, of_node
from wqc.model.nodes import Carrier, Source
from wqc.model.workflow import Workflow


class EndFile(NamedTuple):
    """A source's or a carrier's ConfigMap; its one key is `source.yaml` or `carrier.yaml`."""

    file: str
    metadata: Metadata
    node: str
    block: Literal["source", "carrier"]
    settings: Mapping[str, Any]


def end_file(workflow: Workflow, node: Source | Carrier) -> EndFile | None:
    """None for the user's own ambassador, which has no settings that wqc knows of."""
    if node.kind == "container":
        return None
    block: Literal["source", "carrier"]
    if isinstance(node, Source):
        block, given = "source", settings.plain(settings.of_source(workflow.name, node))
    else:
        block, given = "carrier", settings.plain(settings.of_carrier(node))
    return EndFile(
        file=f"{block}-{node.name.replace('_', '-')}.yaml",
        metadata=of_node(workflow, node.name, block),
        node=node.name,
        block=block,
        settings=given,
    )
