"""`source-NAME.yaml` and `carrier-NAME.yaml`: the settings of what stands at the workflow's ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from wqc.emit.objects import settings
from wqc.emit.objects.metadata import Metadata, of_node
from wqc.emit.placement import credentials
from wqc.language.values import Secret
from wqc.model.nodes import Carrier, Source
from wqc.model.workflow import Workflow


@dataclass(frozen=True, slots=True)
class EndFile:
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
    names = variable_names(node)
    block: Literal["source", "carrier"]
    if isinstance(node, Source):
        block, given = "source", settings.plain(settings.of_source(node, names))
    else:
        block, given = "carrier", settings.plain(settings.of_carrier(node, names))
    return EndFile(
        file=f"{block}-{node.name.replace('_', '-')}.yaml",
        metadata=of_node(workflow, node.name, block),
        node=node.name,
        block=block,
        settings=given,
    )


def variable_names(node: Source | Carrier) -> dict[tuple[str, Secret], str]:
    """The environment variable of each credential: `WQC_AUTH`, numbered where members of a bundle differ."""
    names: dict[tuple[str, Secret], str] = {}
    for attribute, secret in credentials(node):
        if not settings.is_file(attribute):
            count = sum(1 for name, _ in names if name == attribute)
            names[attribute, secret] = f"WQC_{attribute.upper()}{f'_{count + 1}' if count else ''}"
    return names
