"""What Kubernetes would refuse, or do otherwise than meant: one file per subject."""

from collections.abc import Iterator

from wqc import __version__
from wqc.checks.attempts import attempts
from wqc.checks.batches import batches
from wqc.checks.object_names import object_names
from wqc.checks.peak import peak
from wqc.checks.pod_fields import pod_fields
from wqc.checks.volumes import volumes
from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import kubernetes as mistakes
from wqc.model.workflow import Workflow


def check_kubernetes(workflow: Workflow, version: str, image: str) -> Iterator[Finding]:
    """For one of `wqc.model.podspec.VERSIONS`, and the runtime image if the build sets one."""
    yield from object_names(workflow)
    yield from peak(workflow)
    yield from pod_fields(workflow, version)
    yield from volumes(workflow)
    yield from batches(workflow)
    yield from attempts(workflow)
    if not (image or workflow.manager.image):
        manager = workflow.manager.declaration or workflow.declaration
        yield mistakes.no_runtime_image(manager.head, f"wqc-runtime:{__version__}")
