"""`wqc run` over a folder with files that can't be read, or that nobody reads, says which and what to do."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.command import Ran, wqc

TEXT = """
workflow damaged
source names: items { items = ["a", "b", "c"] }
worker echo { image = "busybox:1", run = "echo $WORK_ITEM_FILE >> LOG" }
queue work { from = names, worker = echo }
"""


def run(folder: Path) -> Ran:
    return wqc("run", "damaged.wq", "--until-empty", folder=folder)


def job(state: Path) -> Path:
    return sorted(state.glob("jobs/*/job.json"))[0]


def segment(state: Path) -> Path:
    return sorted(state.glob("ledger/work/*"))[0]


def people(state: Path) -> Path:
    return state / "state.json"


@pytest.mark.parametrize("content", [b"", b"[]"])
@pytest.mark.parametrize(
    ("file", "remedy", "times"),
    [
        (job, "delete it: if its item isn't recorded, it is worked on again once its source lists it", 3),
        (segment, "delete it: items that nothing else has recorded are worked on again if their source", 6),
        (
            people,
            "move it away: pauses and how far a rollout is are forgotten with it, and nothing of the",
            3,
        ),
    ],
)
def test_it_says_which_and_what_to_do(
    file: Callable[[Path], Path], remedy: str, times: int, content: bytes, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    (tmp_path / "damaged.wq").write_text(TEXT.replace("LOG", str(log)))
    assert run(tmp_path).status == 0
    damaged = file(tmp_path / ".wqc/damaged")
    damaged.write_bytes(content)
    ran = run(tmp_path)
    last = ran.err.splitlines()[-1]
    assert ran.status == 2
    assert last.startswith("wqc: ")
    assert f"is damaged; {remedy}" in last
    # done as it says
    told = Path(last.removeprefix("wqc: ").partition(" is damaged")[0])
    assert tmp_path / told in (damaged, damaged.parent)
    if (tmp_path / told).is_dir():
        shutil.rmtree(tmp_path / told)
    else:
        (tmp_path / told).unlink()
    assert run(tmp_path).status == 0
    assert len(log.read_text().splitlines()) == times


def test_several_are_counted(tmp_path: Path) -> None:
    (tmp_path / "damaged.wq").write_text(TEXT.replace("LOG", str(tmp_path / "log")))
    assert run(tmp_path).status == 0
    for path in (tmp_path / ".wqc/damaged/jobs").glob("*/job.json"):
        path.write_text("{")
    assert run(tmp_path).err.endswith("; 2 more are damaged\n")


@pytest.mark.parametrize("program", ["echo $WORK_ITEM_FILE >> LOG", "false"])
def test_the_record_of_a_queue_that_is_gone_is_named(tmp_path: Path, program: str) -> None:
    """Also where it is nothing but failed items."""
    log = tmp_path / "log"
    text = TEXT.replace("echo $WORK_ITEM_FILE >> LOG", program).replace("LOG", str(log))
    text = text.replace("worker = echo", "worker = echo, retries = 0")
    file = tmp_path / "damaged.wq"
    file.write_text(text)
    assert "no queue has this name" not in run(tmp_path).err
    told = (
        "work: no queue has this name any more, and nobody reads what is on record of it in .wqc/damaged: "
        'formerly = "work" leaves it to the queue that it became, and retired = ["work"] of the workflow '
        "gives it up"
    )
    file.write_text(text.replace("queue work", "queue toil"))
    assert told in run(tmp_path).err.splitlines()
    file.write_text(file.read_text().replace("workflow damaged", 'workflow damaged { retired = ["work"] }'))
    assert told not in run(tmp_path).err.splitlines()
    file.write_text(text.replace("queue work {", 'queue toil { formerly = "work",'))
    assert told not in run(tmp_path).err.splitlines()
