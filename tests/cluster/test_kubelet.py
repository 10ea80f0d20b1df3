"""The kubelet of a real node dies under working pods, and comes back: the node says late what they did."""

import time
from collections import Counter
from pathlib import Path

from cluster.client import Client
from cluster.given_cluster import GivenCluster
from cluster.managed import Managed, identity
from cluster.real_node import RealNode
from cluster.workers import shell_image
from support.need import unavailable
from wqc.contract.names import item_hash

IMAGE = "test.local/kubelet/worker:1"
WORK = 5
"""Seconds that an item takes."""
NAMES = ("one", "two", "three")
WORKFLOW = f"""
source names: items {{ items = ["one", "two", "three"] }}
worker slow {{
  image = "{IMAGE}"
  run   = \"\"\"
    sleep {WORK}
    printf '{{"item": %s}}' "$(cat "$WORK_ITEM_FILE")" >"$WORK_RESULT_FILE"
    \"\"\"
}}
worker plain {{ image = "{IMAGE}", run = "true" }}
queue first {{ from = names, worker = slow, result = required, parallelism = 2 }}
queue second {{ from = first, worker = plain, parallelism = 3 }}
"""


def test_a_kubelet_that_dies(real_node: RealNode | GivenCluster, tmp_path: Path) -> None:
    if not isinstance(real_node, RealNode):
        unavailable("the kubelet is killed, which takes the node on this machine: unset WQC_TEST_KUBECONFIG")
    shell_image(real_node, IMAGE, tmp_path / "image")
    client = Client(real_node.kubeconfig)
    with Managed(client, "late", "kubelet", tmp_path / "run", WORKFLOW) as workflow:
        workflow.start()
        workflow.until("two run", lambda: at_work(workflow) == 2)
        real_node.kill_kubelet()
        try:
            workflow.kill()
            workflow.start()
            time.sleep(WORK + 2)
            assert workflow.recorded("first") == Counter()
        finally:
            real_node.start_kubelet()
        workflow.until("all is done", lambda: workflow.is_done("second", NAMES))
        assert workflow.attempts("first") == Counter(NAMES)
        assert {identity(job)["attempt"] for job in workflow.jobs("first")} == {1}
        items = workflow.delivered("first")
        assert workflow.delivered("second") == {name: {"item": items[name]} for name in NAMES}
        everything = Counter(item_hash(name, "") for name in NAMES)
        assert [workflow.recorded(queue) for queue in ("first", "second")] == [everything] * 2


def at_work(workflow: Managed) -> int:
    pods = workflow.listed(f"{workflow.core}/pods", labelSelector="wqc/queue=first")
    return sum(pod["status"].get("phase") == "Running" for pod in pods)
