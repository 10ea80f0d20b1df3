"""`access.yaml`: service accounts, and what the manager may do."""

from typing import NamedTuple

from wqc.contract.names import MANAGER, STATE, object_name
from wqc.emit.objects.metadata import Metadata, of_workflow
from wqc.emit.objects.workers import SERVICE_ACCOUNT
from wqc.model.nodes import Queue
from wqc.model.workflow import Workflow


class Rule(NamedTuple):
    """`why` is a comment. Without `names` it holds for all objects of the kind."""

    why: str
    group: str
    resource: str
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()


class AccessFile(NamedTuple):
    """`manager` is None for a workflow of batches alone."""

    file: str
    worker: Metadata
    manager: Metadata | None
    rules: tuple[Rule, ...]


def access_file(workflow: Workflow, has_manager: bool) -> AccessFile:
    manager = of_workflow(workflow, MANAGER)._replace(app=object_name(workflow.name)) if has_manager else None
    worker = of_workflow(workflow, SERVICE_ACCOUNT)._replace(app=object_name(workflow.name))
    return AccessFile("access.yaml", worker, manager, _rules(workflow) if has_manager else ())


def _rules(workflow: Workflow) -> tuple[Rule, ...]:
    queues = [node for node in workflow.nodes.values() if isinstance(node, Queue)]
    names = [name for queue in queues for name in (queue.name, queue.formerly) if name]
    own = tuple(object_name(workflow.name, name) for name in (*names, MANAGER))
    state = object_name(workflow.name, STATE)
    lease = object_name(workflow.name, MANAGER)
    rules = [
        Rule(
            "one Job is one attempt at an item", "batch", "jobs", ("create", "get", "list", "patch", "watch")
        ),
        Rule("results are read from pods", "", "pods", ("list", "watch")),
        Rule(
            "why a Job has no pod is told by Events; and what blocks a queue",
            "",
            "events",
            ("create", "list"),
        ),
        Rule(
            "finished items are remembered in ConfigMaps named by hash",
            "",
            "configmaps",
            ("create", "delete", "list"),
        ),
        Rule(
            "the queues' settings, what held Jobs belong to, and what isn't in git",
            "",
            "configmaps",
            ("get",),
            own,
        ),
        Rule("", "", "configmaps", ("get", "patch", "watch"), (state,)),
        Rule("one manager at a time", "coordination.k8s.io", "leases", ("create",)),
        Rule("", "coordination.k8s.io", "leases", ("get", "update"), (lease,)),
    ]
    return tuple(rules)
