"""A cluster to try things on: `python -m cluster up api|simulated|real` starts one, `down` ends it.

A process of its own holds it. All that belongs to it is in the folder $WQC_TEST_CLUSTER, or in .cluster/ at
the repository's top.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cluster.control_plane import ControlPlane
from cluster.controllers import TUNED, start_controllers
from cluster.real_node import RealNode
from cluster.runtime_image import runtime_image
from cluster.simulated_nodes import start_simulated_nodes

OWN = Path(__file__).resolve().parents[2] / ".cluster"
FOLDER = Path(os.environ.get("WQC_TEST_CLUSTER") or OWN).absolute()
LOG = FOLDER / "cluster.log"
PID = FOLDER / "pid"
READY = FOLDER / "ready"


def hold(tier: str) -> int:
    """Run the cluster until this process is told to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    cluster = RealNode(FOLDER) if tier == "real" else ControlPlane(FOLDER)
    try:
        cluster.start()
        if tier == "simulated":
            start_controllers(cluster, *TUNED)
            start_simulated_nodes(cluster)
        if isinstance(cluster, RealNode):
            cluster.load_image(runtime_image(FOLDER / "runtime-image"))
        READY.touch()
        while True:
            signal.pause()
    finally:
        cluster.stop()
        PID.unlink(missing_ok=True)


def up(tier: str) -> int:
    if PID.exists():
        print(f"a cluster is up: export KUBECONFIG={FOLDER / 'kubeconfig'}", file=sys.stderr)
        return 1
    if FOLDER.exists() and not LOG.exists():
        print(f"{FOLDER} is there, and not from a cluster before: name another", file=sys.stderr)
        return 2
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with LOG.open("wb") as log:
        holder = subprocess.Popen(
            [sys.executable, "-m", "cluster", "hold", tier],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    PID.write_text(f"{holder.pid}\n")
    while not READY.exists():
        if holder.poll() is not None:
            PID.unlink(missing_ok=True)
            print(LOG.read_text()[-2000:], file=sys.stderr)
            return 2
        time.sleep(0.2)
    print(f"ready: export KUBECONFIG={FOLDER / 'kubeconfig'}")
    return 0


def down() -> int:
    if not PID.exists():
        print("no cluster is up")
        return 0
    try:
        os.kill(int(PID.read_text()), signal.SIGTERM)
    except ProcessLookupError:
        PID.unlink()
    while PID.exists():
        time.sleep(0.2)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m cluster", description=__doc__)
    parser.add_argument("action", choices=["up", "hold", "down"])
    parser.add_argument("tier", choices=["api", "simulated", "real"], nargs="?", default="real")
    arguments = parser.parse_args()
    if arguments.action == "hold":
        try:
            return hold(arguments.tier)
        except (pytest.skip.Exception, pytest.fail.Exception) as reason:
            print(reason, file=sys.stderr)
            return 2
    return up(arguments.tier) if arguments.action == "up" else down()


if __name__ == "__main__":
    sys.exit(main())
