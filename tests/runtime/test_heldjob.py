"""The Job that holds an item which failed in a pattern node. Names are frozen: Jobs are found by them."""

import pytest

from wqc.contract.limits import LARGE_ITEM_BYTES
from wqc.contract.names import LABEL_LIMIT, held_job_name
from wqc.runtime.queue.attempt import Identity
from wqc.runtime.queue.heldjob import LONGEST_REASON, held_job
from wqc.runtime.queue.largeitem import ItemTooLarge

OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "thumbs-manager", "uid": "1", "controller": True}


@pytest.mark.parametrize(
    ("workflow", "name"),
    [
        ("thumbs", "thumbs--held-aw4tflj2y54eksaw3xoa-7"),
        ("w" * 60, "wwwwwwwwwwwwwwwwwwwwwwwwwwwwww--held-ed7u2pcfw736nugxdcgq-7"),
        ("a" * 29 + "_b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa--held-3menfv67wxxwvhlqqgqq-7"),
    ],
)
def test_names(workflow: str, name: str) -> None:
    assert held_job_name(workflow, "large.east", "a/b ☃", "v1", 7) == name
    assert len(held_job_name(workflow, "large.east", "a/b ☃", "v1", 999)) <= LABEL_LIMIT - len("-0")


def test_different_nodes_have_different_jobs() -> None:
    names = {held_job_name("w", node, name, "", 1) for node, name in (("a", "x"), ("b", "x"), ("a", "b:x"))}
    assert len(names) == 3


def test_it_can_not_run_and_says_why() -> None:
    job = held_job(OWNER, "thumbs", "large", "job-1", Identity("a", "", 0, 1, 0), '{"n":1}', "x" * 10_000)
    assert job["metadata"]["ownerReferences"] == [OWNER]
    assert job["metadata"]["labels"] == {"wqc/workflow": "thumbs", "wqc/queue": "large"}
    assert job["metadata"]["annotations"]["wqc/reason"] == "x" * LONGEST_REASON
    assert (job["spec"]["suspend"], job["spec"]["parallelism"]) == (True, 0)
    assert job["spec"]["template"]["metadata"]["annotations"]["wqc/item"] == '{"n":1}'


def test_what_is_too_large_is_held_without_its_data() -> None:
    with pytest.raises(ItemTooLarge):
        held_job(OWNER, "w", "n", "j", Identity("a", "", 0, 1, 0), f'"{"x" * LARGE_ITEM_BYTES}"', "")
    job = held_job(OWNER, "w", "n", "j", Identity("a", "", 0, 1, 0), None, "too large")
    assert "annotations" not in job["spec"]["template"]["metadata"]
