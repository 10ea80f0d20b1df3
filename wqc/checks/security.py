"""What would let an attacker in, or give a secret away: one file per subject."""

from collections.abc import Iterator

from wqc.checks.images import images
from wqc.checks.pod_security import pod_security
from wqc.checks.secrets import secrets
from wqc.checks.transport import transport
from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import security as mistakes
from wqc.model.nodes import Source
from wqc.model.workflow import Workflow


def check_security(workflow: Workflow, version: str) -> Iterator[Finding]:
    """For a Kubernetes version, of `wqc.model.podspec.VERSIONS`."""
    yield from images(workflow)
    yield from secrets(workflow)
    yield from pod_security(workflow, version)
    yield from transport(workflow)
    blocks = [worker.declaration for worker in workflow.workers.values()]
    blocks += [node.declaration for node in workflow.nodes.values() if isinstance(node, Source)]
    for block in blocks:
        if block.get("writable_root"):
            yield mistakes.writable_root(block.attributes["writable_root"].span, block.name)
