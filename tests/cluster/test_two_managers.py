"""Two managers that both believe that they are alone, from the first item to the last."""

import json
from collections import Counter
from pathlib import Path

from cluster.calls import Call, Meddler, Reply
from cluster.client import Client
from cluster.crashing import Run, expected

SECONDS = 180
LEASE = {"metadata": {"name": "crash-manager", "resourceVersion": "1", "uid": "1"}, "spec": {}}


class WithoutLease(Meddler):
    """Whoever asks for the Lease has it."""

    def before(self, call: Call) -> Reply | None:
        if call.kind == "GET leases":
            return Reply(404, b"{}")
        if call.kind.endswith(" leases"):
            return Reply(201, json.dumps(LEASE).encode())
        return None


def test_every_item_is_worked_on_recorded_and_delivered_once(
    simulated_cluster: Client, tmp_path: Path
) -> None:
    run = Run(simulated_cluster, "two-managers", tmp_path / "run", WithoutLease(), managers=2)
    found = run.until_over(SECONDS)
    # the record is a set of hashes; which of the two wrote one down, or both, is the same
    found.recorded = Counter(found.recorded.keys())
    assert found == expected()
    assert run.starts == 2
    assert run.proxy.counts["POST leases"] >= 2 * 2, "both had it all the time"
    assert run.proxy.counts["POST jobs"] > len(found.attempts), "both wanted to make the same ones"
