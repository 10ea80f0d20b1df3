"""Which pods of a node that nobody hears of count as lost."""

import pytest

from runtime.test_reading import ended, job, pod
from wqc.runtime.stores.kubernetes.objects import Pod
from wqc.runtime.stores.kubernetes.reading import ending, read_job


def leaving(its: Pod, ready: str | None = "False") -> Pod:
    """It should have been gone."""
    found = job("Complete").status.conditions
    assert found
    its.metadata.deletion_timestamp = found[0].last_transition_time
    if ready:
        its.status.conditions = [type(found[0])("Ready", ready)]
    return its


@pytest.mark.parametrize(
    ("its", "is_overdue"),
    [
        (leaving(pod({"running": {}})), True),
        (leaving(pod({"running": {}}), ready=None), True),
        (leaving(pod({"running": {}}), ready="True"), False),
        (leaving(pod({"running": {}}, phase="Failed")), False),
        (leaving(pod({"running": {}}, phase="Succeeded")), False),
        (pod({"running": {}}), False),
    ],
)
def test_one_that_should_be_gone_on_a_node_that_is_not_ready(its: Pod, is_overdue: bool) -> None:
    found = read_job(job(None), ending(its))
    assert (found.overdue is not None) == is_overdue
    assert found.phase == "active"


def test_a_job_that_is_over_waits_for_no_pod() -> None:
    over = read_job(job("Complete"), ending(leaving(pod(ended(0)))))
    assert (over.phase, over.overdue) == ("succeeded", None)
