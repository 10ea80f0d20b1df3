"""The finite Job over a message queue (design, section 4)."""

from typing import Any

import pytest
import yaml

from support.built import Folder, mounts, variables

HEAD = """workflow w
source s: rabbitmq {
  brokers    = "mq:5672"
  queue      = "q"
  management = "http://mq:15672"
  auth       = secret("mq", "url")
}
worker w { image = "w:1", command = ["/crunch", "-v"], input = stdin }
"""


def job_of(kind: str, attributes: str = "", head: str = HEAD) -> dict[str, Any]:
    folder = Folder(f"{head}batch b: {kind} {{ from = s, worker = w, {attributes} }}\n")
    return folder.object("batch-b.yaml", "Job")


@pytest.mark.parametrize(
    ("kind", "attributes", "completions", "parallelism", "measured"),
    [
        ("coarse", "completions = 8, parallelism = 2", 8, 2, False),
        ("coarse", "parallelism = 2", 100_000, 3, True),
        ("fine", "parallelism = 4", 5, 5, True),
        ("fine", "completions = 3, parallelism = 4", 3, 4, False),
        ("fine", "completions = 9, parallelism = 4", 4, 4, False),
    ],
)
def test_how_many_pods(
    kind: str, attributes: str, completions: int, parallelism: int, measured: bool
) -> None:
    spec = job_of(kind, attributes)["spec"]
    assert (spec["completions"], spec["parallelism"]) == (completions, parallelism)
    assert (spec.get("completionMode") == "Indexed") == measured
    assert ("successPolicy" in spec) == measured
    if measured:
        assert spec["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    assert spec["backoffLimit"] == 2**31 - 1


def test_the_worker_is_wrapped_and_the_sidecar_has_the_credentials() -> None:
    pod = job_of("coarse", "timeout = 90s")["spec"]["template"]["spec"]
    install, broker = pod["initContainers"]
    (worker,) = pod["containers"]
    assert install["command"] == ["/usr/local/bin/wqc-wrapper", "install", "/wqc/batch/wrapper"]
    assert broker["restartPolicy"] == "Always"
    assert "startupProbe" in broker
    assert worker["command"] == ["/wqc/batch/wrapper", "--stdin", "--timeout=90", "--"]
    assert worker["args"] == ["/crunch", "-v"]
    assert variables(worker) == {
        "WORK_ITEM_FILE": "/wqc/batch/item.json",
        "WORK_ITEM_DIR": "/wqc/batch/fields",
        "WORK_RESULT_FILE": "/wqc/batch/result",
    }
    assert "/etc/wqc-credentials" in mounts(broker)
    assert "/etc/wqc-credentials" not in mounts(worker)
    assert mounts(worker)["/wqc/batch"] == mounts(broker)["/wqc/batch"]
    assert "activeDeadlineSeconds" not in pod


@pytest.mark.parametrize(
    ("kind", "attributes", "waits"),
    [("coarse", "", True), ("coarse", "completions = 8,", False), ("fine", "completions = 8,", True)],
)
def test_one_that_ends_by_itself_says_how_long_it_waits(kind: str, attributes: str, waits: bool) -> None:
    pod = job_of(kind, f"{attributes} wait = 1m, retries = 5")["spec"]["template"]["spec"]
    wait = ["--wait=60"] if waits else []
    command = pod["initContainers"][1]["command"]
    assert command == ["wqc-runtime", "batch", f"--kind={kind}", "--retries=5", *wait, "s"]


def test_the_name_is_of_the_content() -> None:
    """Of what the Job says and of what it reads, and of nothing else."""
    first = job_of("coarse")["metadata"]["name"]
    assert job_of("coarse")["metadata"]["name"] == first
    assert job_of("coarse", head=f"# a comment\n{HEAD}")["metadata"]["name"] == first
    others = [
        job_of("coarse", 'run = "2"'),
        job_of("coarse", "parallelism = 2"),
        job_of("coarse", head=HEAD.replace("w:1", "w:2")),
        job_of("coarse", head=HEAD.replace('"q"', '"r"')),
    ]
    names = [first, *(other["metadata"]["name"] for other in others)]
    assert len(set(names)) == len(names)
    assert all(name.startswith("w-b-") and len(name) == len("w-b-") + 10 for name in names)


def test_no_worker_pod_of_a_batch_counts_as_a_queues() -> None:
    labels = job_of("coarse")["spec"]["template"]["metadata"]["labels"]
    assert labels["wqc/batch"] == "b"
    assert "wqc/queue" not in labels


def test_its_messages_are_text_unless_the_source_says_otherwise() -> None:
    batch = "batch b: coarse { from = s, worker = w }\n"
    for stated, format in (("", "text"), ("format = json", "json")):
        folder = Folder(HEAD.replace("{\n", f"{{\n{stated}\n", 1) + batch)
        settings = folder.object("source-s.yaml", "ConfigMap")["data"]["source.yaml"]
        assert yaml.safe_load(settings)["options"]["format"] == format
