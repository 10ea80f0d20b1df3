"""Names and labels of what is written, and the list of it all."""

from typing import NamedTuple

from wqc.contract.names import object_name
from wqc.model.workflow import Workflow


class Metadata(NamedTuple):
    """`app`, `component` and `part_of` are the values of the recommended labels (app.kubernetes.io/…).

    `instance` is never among them: it is Argo CD's own.
    """

    name: str
    namespace: str
    app: str
    component: str
    part_of: str


class Identity(NamedTuple):
    """One object that a folder holds. `size` is the bytes of a ConfigMap's data, 0 for other kinds."""

    kind: str
    namespace: str
    name: str
    file: str
    size: int = 0


def of_workflow(workflow: Workflow, component: str) -> Metadata:
    """An object that the workflow has once: `signup-manager`."""
    return _metadata(workflow, component, component)


def of_node(workflow: Workflow, node: str, component: str) -> Metadata:
    """An object of one node: `signup-verify`."""
    return _metadata(workflow, node, component)


def _metadata(workflow: Workflow, part: str, component: str) -> Metadata:
    return Metadata(
        name=object_name(workflow.name, part),
        namespace=workflow.namespace,
        app=object_name(part),
        component=component,
        part_of=object_name(workflow.name),
    )
