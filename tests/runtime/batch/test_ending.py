"""When a batch is done: index 0, which runs no worker, and pods that end by themselves."""

import signal
import time
from pathlib import Path

from support.batch_pod import Journal, MakePod, wait
from support.queues import SOURCE, Queue, RabbitQueue, RedisList

NOTHING = ["sh", "-c", "exit 9"]
"""What must never run."""


def test_index_0_ends_after_the_last_acknowledgement(
    queue: Queue, pod: MakePod, journal: Journal, tmp_path: Path
) -> None:
    queue.put("apple", "banana")
    wait("the broker counts them", lambda: queue.left() == 2)
    watcher = pod(queue, "--kind=coarse", "--retries=0", "--wait=600", index=0).start(NOTHING)
    first = pod(queue, "--kind=coarse", "--retries=0", "--wait=600", index=1).start(
        journal.worker(), "--stdin"
    )
    slow = pod(queue, "--kind=coarse", "--retries=0", "--wait=600", index=2)
    slow.start(journal.worker(f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"), "--stdin")
    assert first.exit_code() == 0
    wait("both are worked on", lambda: len(journal.words()) == 2)
    # nothing waits, but one is being worked on: for much longer than an empty queue is looked at
    time.sleep(4)
    assert watcher.wrapper.poll() is None
    (tmp_path / "go").touch()
    assert slow.exit_code() == 0
    assert watcher.exit_code() == 0
    assert queue.left() == 0


def test_index_0_waits_for_a_first_message(queue: Queue, pod: MakePod, journal: Journal) -> None:
    watcher = pod(queue, "--kind=fine", "--retries=0", "--wait=600", index=0).start(NOTHING)
    time.sleep(3)
    assert watcher.wrapper.poll() is None
    queue.put("apple")
    worker = pod(queue, "--kind=fine", "--retries=0", "--wait=600", index=1).start(
        journal.worker(), "--stdin"
    )
    assert watcher.exit_code() == 0
    assert journal.words() == ["apple"]
    # who works waits for more until the Job is done
    assert worker.wrapper.poll() is None
    assert worker.delete() == 143


def counted(queue: Queue) -> int:
    """How many acknowledgements the broker has counted. RabbitMQ does each five seconds, here each second."""
    server = queue.server
    if isinstance(queue, RabbitQueue):
        found = server.ask("GET", f"/queues/%2F/{queue.name}")
        return int(found.get("message_stats", {}).get("ack", 0)) if found.get("messages") == 0 else 0
    if isinstance(queue, RedisList):
        return int(server.client.get(f"{queue.key}:w.{SOURCE}:number"))
    return int(server.client.xinfo_groups(queue.key)[0]["entries-read"])


def test_index_0_knows_of_what_came_and_went_while_it_did_not_look(
    queue: Queue, pod: MakePod, journal: Journal
) -> None:
    queue.put("earlier")
    assert pod(queue, "--kind=coarse", "--retries=0").start(journal.worker(), "--stdin").exit_code() == 0
    wait("it is counted", lambda: counted(queue) == 1)
    watcher = pod(queue, "--kind=coarse", "--retries=0", "--wait=600", index=0).start(NOTHING)
    wait("it looks", lambda: "0 messages are left" in watcher.said())
    time.sleep(3)
    # what was done before isn't this batch's
    assert watcher.wrapper.poll() is None
    watcher.sidecar.send_signal(signal.SIGSTOP)
    queue.put("apple")
    first = pod(queue, "--kind=coarse", "--retries=0", index=1).start(journal.worker(), "--stdin")
    assert first.exit_code() == 0
    wait("it is counted", lambda: counted(queue) == 2)
    watcher.sidecar.send_signal(signal.SIGCONT)
    assert watcher.exit_code() == 0


def test_index_0_of_a_queue_that_stays_empty_ends_after_the_wait(queue: Queue, pod: MakePod) -> None:
    watcher = pod(queue, "--kind=fine", "--retries=0", "--wait=3", index=0).start(NOTHING)
    assert watcher.exit_code() == 0


def test_a_fine_pod_without_an_index_ends_after_the_wait(queue: Queue, pod: MakePod) -> None:
    lonely = pod(queue, "--kind=fine", "--retries=0", "--wait=2").start(NOTHING, "--stdin")
    assert lonely.exit_code() == 0


def test_a_coarse_pod_waits_for_its_message(queue: Queue, pod: MakePod, journal: Journal) -> None:
    patient = pod(queue, "--kind=coarse", "--retries=0").start(journal.worker(), "--stdin")
    time.sleep(2)
    assert patient.wrapper.poll() is None
    queue.put("apple")
    assert patient.exit_code() == 0
    assert journal.words() == ["apple"]


def test_a_stopped_sidecar_ends_well(queue: Queue, pod: MakePod) -> None:
    idle = pod(queue, "--kind=coarse", "--retries=0").start(NOTHING, "--stdin")
    assert idle.delete() != 0
