"""A batch's pods over real brokers: what is worked on, repeated, given up, and what survives whose death."""

import signal
from collections import Counter
from pathlib import Path

import pytest

from support.batch_pod import BatchPod, Journal, MakePod, wait
from support.queues import Queue

WORDS = ["apple", "banana", "cherry", "date", "fig"]


def is_worked_on(journal: Journal, word: str, times: int = 1) -> bool:
    return journal.words().count(word) == times


def test_fine_works_off_all_and_ends(queue: Queue, pod: MakePod, journal: Journal) -> None:
    queue.put(*WORDS)
    first, second = pod(queue, "--kind=fine", "--retries=0"), pod(queue, "--kind=fine", "--retries=0")
    for each in (first, second):
        each.start(journal.worker("sleep 0.1"), "--stdin")
    assert [first.exit_code(), second.exit_code()] == [0, 0]
    assert Counter(journal.words()) == Counter(WORDS)
    wait("nothing is left", lambda: queue.left() == 0)


def test_coarse_takes_one_and_ends_once_it_is_acknowledged(
    queue: Queue, pod: MakePod, journal: Journal
) -> None:
    queue.put("apple", "banana")
    single = pod(queue, "--kind=coarse", "--retries=0").start(journal.worker(), "--stdin")
    assert single.exit_code() == 0
    # whatever happens now, the broker doesn't deliver it again
    single.lose()
    other = pod(queue, "--kind=coarse", "--retries=0").start(journal.worker(), "--stdin")
    assert other.exit_code() == 0
    assert journal.words() == ["apple", "banana"]
    wait("nothing is left", lambda: queue.left() == 0)


def test_what_fails_is_repeated_in_place_then_given_up(queue: Queue, pod: MakePod, journal: Journal) -> None:
    queue.put("apple", "poison", "banana")
    command = journal.worker('[ $x != poison ] || { echo "no $x" >"$WORK_RESULT_FILE"; exit 7; }')
    single = pod(queue, "--kind=fine", "--retries=2").start(command, "--stdin")
    assert single.exit_code() == 0
    assert journal.words() == ["apple", "poison", "poison", "poison", "banana"]
    assert queue.failed() == ["poison"]
    wait("nothing is left", lambda: queue.left() == 0)
    lines = [
        (line["reason"], line["message"]) for line in single.log() if line["text"] == "an attempt failed"
    ]
    assert lines == [("exit code 7", "no poison\n")] * 3


def test_a_success_after_a_failure_is_one(
    queue: Queue, pod: MakePod, journal: Journal, tmp_path: Path
) -> None:
    queue.put("apple")
    command = journal.worker(f"[ -e {tmp_path}/again ] || {{ touch {tmp_path}/again; exit 1; }}")
    assert pod(queue, "--kind=coarse", "--retries=1").start(command, "--stdin").exit_code() == 0
    assert journal.words() == ["apple", "apple"]
    wait("nothing is left", lambda: queue.left() == 0)


def test_what_takes_too_long_has_failed(queue: Queue, pod: MakePod, journal: Journal) -> None:
    queue.put("apple")
    single = pod(queue, "--kind=coarse", "--retries=0")
    single.start(journal.worker("sleep 60"), "--stdin", "--timeout=0.5")
    assert single.exit_code() == 0
    assert queue.failed() == ["apple"]
    assert [line["reason"] for line in single.log()] == ["it took too long"] * 2


# --- deaths ---


@pytest.fixture
def busy(queue: Queue, pod: MakePod, journal: Journal) -> BatchPod:
    """A pod in the middle of `apple`."""
    queue.put("apple")
    found = pod(queue, "--kind=coarse", "--retries=3").start(journal.worker("sleep 60"), "--stdin")
    wait("it is worked on", lambda: is_worked_on(journal, "apple"))
    return found


def replaced(queue: Queue, pod: MakePod, journal: Journal) -> None:
    """Another pod gets the message, and does the work."""
    other = pod(queue, "--kind=coarse", "--retries=0").start(journal.worker(), "--stdin")
    assert other.exit_code() == 0, other.said()
    assert journal.words() == ["apple", "apple"]
    assert queue.failed() == []
    wait("nothing is left", lambda: queue.left() == 0)


def test_a_lost_pod(busy: BatchPod, queue: Queue, pod: MakePod, journal: Journal) -> None:
    busy.lose()
    replaced(queue, pod, journal)


def test_a_lost_worker(busy: BatchPod, queue: Queue, pod: MakePod, journal: Journal) -> None:
    busy.wrapper.kill()
    replaced(queue, pod, journal)


def test_a_lost_sidecar(busy: BatchPod, queue: Queue, pod: MakePod, journal: Journal, tmp_path: Path) -> None:
    busy.sidecar.kill()
    busy.wrapper.send_signal(signal.SIGTERM)
    assert busy.exit_code() != 0
    replaced(queue, pod, journal)


def test_a_sidecar_that_dies_before_it_acknowledged(
    queue: Queue, pod: MakePod, journal: Journal, tmp_path: Path
) -> None:
    queue.put("apple")
    first = pod(queue, "--kind=coarse", "--retries=0")
    first.start(journal.worker(f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"), "--stdin")
    wait("it is worked on", lambda: is_worked_on(journal, "apple"))
    first.sidecar.kill()
    (tmp_path / "go").touch()
    # the work is done, but nobody was told
    assert first.exit_code() == 1
    assert "the sidecar is gone" in first.said()
    replaced(queue, pod, journal)


def test_a_deleted_pod_gives_back_what_it_has_at_once(queue: Queue, pod: MakePod, journal: Journal) -> None:
    """And not when its lease is over, as after a pod's death."""
    queue.put("apple")
    deleted = pod(queue, "--kind=coarse", "--retries=0", periods="hold=600")
    deleted.start(journal.worker("sleep 60"), "--stdin")
    wait("it is worked on", lambda: is_worked_on(journal, "apple"))
    assert deleted.delete() == 143
    replaced(queue, pod, journal)


def test_a_command_that_ends_well_because_it_is_told_to_end_has_not_done_its_work(
    queue: Queue, pod: MakePod, journal: Journal
) -> None:
    queue.put("apple")
    polite = journal.worker("trap 'exit 0' TERM; while :; do sleep 0.05; done")
    first = pod(queue, "--kind=coarse", "--retries=0").start(polite, "--stdin")
    wait("it is worked on", lambda: is_worked_on(journal, "apple"))
    assert first.delete() == 143
    replaced(queue, pod, journal)


def test_a_message_that_kills_its_pods_is_given_up(queue: Queue, pod: MakePod, journal: Journal) -> None:
    queue.put("apple")
    for attempt in (1, 2, 3, 4):
        killed = pod(queue, "--kind=coarse", "--retries=0").start(journal.worker("sleep 60"), "--stdin")
        wait("it is worked on", lambda attempt=attempt: is_worked_on(journal, "apple", attempt))
        killed.lose()
    last = pod(queue, "--kind=coarse", "--retries=0").start(journal.worker(), "--stdin")
    assert last.exit_code() == 0
    assert journal.words() == ["apple"] * 4
    assert queue.failed() == ["apple"]
    wait("nothing is left", lambda: queue.left() == 0)


def test_a_command_that_is_not_there_costs_no_message(queue: Queue, pod: MakePod) -> None:
    queue.put("apple")
    single = pod(queue, "--kind=coarse", "--retries=0").start(["no-such-program"], "--stdin")
    assert single.exit_code() == 1
    assert 'exec: "no-such-program": executable file not found' in single.said()
    assert queue.left() in (1, -1)
    assert queue.failed() == []
