"""`wqc status`, `pause`, `resume`, `retry` and `discard`, of a run on this machine."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.command import Ran, wqc

IN_ITS_FILE = "a queue that never ran is paused by paused = true in its file"
CLEAR = b"\x1b[H\x1b[J"
PERIODS = "backoff=0.1 backoff_limit=0.2 flush=0.1 listing=0.2 report=0.1"
SHOP = """\
workflow shop
source orders: items { items = ["a", "b\\n\\u2603"] }
worker pack { image = "busybox:1.36", run = '''
    cat "$WORK_ITEM_FILE"; echo; echo no box left >&2; test -e %s
    ''' }
queue packing { from = orders, worker = pack, retries = 0 }
queue sending { from = packing, worker = pack }
""".replace("'''", '"""')


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.wq").write_text(SHOP % (tmp_path / "boxes"))
    return tmp_path


def run(folder: Path, *options: str) -> Ran:
    return wqc("run", "shop.wq", *options, folder=folder, WQC_PERIODS=PERIODS)


def ask(folder: Path, *words: str) -> Ran:
    return wqc(*words, "--state", ".wqc", folder=folder)


@pytest.mark.parametrize("kubeconfig", ["", "nonsense: [", "a: b"])
def test_no_cluster_and_what_runs_here_instead(tmp_path: Path, kubeconfig: str) -> None:
    (tmp_path / "config").write_text(kubeconfig)
    (tmp_path / ".wqc").mkdir()
    ran = wqc("status", folder=tmp_path, KUBECONFIG=str(tmp_path / "config"))
    assert (ran.status, ran.out) == (2, "")
    assert re.fullmatch(
        r"wqc: no cluster is known here: .+; what `wqc run` does here .+ --state .wqc\n", ran.err
    )


@contextmanager
def running(folder: Path, periods: str = PERIODS) -> Iterator["subprocess.Popen[bytes]"]:
    environment = os.environ | {"WQC_PERIODS": periods}
    process = subprocess.Popen(
        [sys.executable, "-m", "wqc", "run", "shop.wq"],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


def plain(out: str) -> str:
    """Without its times and rates."""
    out = re.sub(r" +rate +time left", " RATE", out)
    out = re.sub(r" +\d+\.\d/(s|min)( +\d+[smh]( \d\d[smh])?)?", " RATE", out)
    return re.sub(r"from (\d+m )?\d+s ago", "from NOW ago", out)


def until(folder: Path, expected: str) -> None:
    """Wait for a status that says so."""
    end = time.monotonic() + 60
    while expected not in (out := plain(ask(folder, "status").out)):
        assert time.monotonic() < end, out
        time.sleep(0.2)


def test_what_failed_is_said_with_the_end_of_its_log(shop: Path) -> None:
    assert run(shop, "--until-empty").status == 1
    shown = ask(shop, "status")
    assert shown.status == 1
    assert shown.err == ""
    assert plain(shown.out) == (
        "shop: no manager runs; this is from NOW ago\n"
        "queue    waiting  running  done  failed RATE\n"
        "packing        0        0     0       2 RATE\n"
        "sending        0        0     0       0 RATE\n"
        "packing: a failed: exit code 1\n"
        '    "a"\n'
        "    no box left\n"
        "packing: b\\n☃ failed: exit code 1\n"
        '    "b\\n☃"\n'
        "    no box left\n"
    )
    (workflow,) = json.loads(ask(shop, "status", "shop", "--format", "json").out)["workflows"]
    packing = workflow["queues"][0]
    assert (workflow["workflow"], workflow["managed"], packing["failed"]) == ("shop", False, 2)
    assert packing["failures"][0]["log"] == ['"a"', "no box left"]


def test_of_what_a_worker_wrote_in_one_line_only_the_begin_is_shown(tmp_path: Path) -> None:
    text = SHOP % "boxes"
    text = text.replace("test -e boxes", "head -c 1000000 /dev/zero | tr '\\0' x; exit 1")
    (tmp_path / "shop.wq").write_text(text)
    assert run(tmp_path, "--until-empty").status == 1
    (workflow,) = json.loads(ask(tmp_path, "status", "--format", "json").out)["workflows"]
    assert [each["log"] for each in workflow["queues"][0]["failures"]] == [["x" * 300 + "…"]] * 2
    assert len(ask(tmp_path, "status").out) < 2000


def test_a_running_workflow_does_what_it_is_asked(shop: Path) -> None:
    with running(shop):
        until(shop, "packing: a failed")
        assert ask(shop, "pause", "sending") == Ran(
            0, "sending is paused; what runs goes on to its end\n", ""
        )
        assert ask(shop, "pause", "sending") == Ran(0, "sending is paused already\n", "")
        (shop / "boxes").touch()
        assert ask(shop, "retry", "shop/packing", "a") == Ran(0, "packing: 1 item is tried again\n", "")
        assert ask(shop, "retry", "packing", "a", "x") == Ran(
            1, "", "packing: no failed item is called a\npacking: no failed item is called x\n"
        )
        assert ask(shop, "discard", "packing") == Ran(0, "packing: 1 item is discarded\n", "")
        assert ask(shop, "discard", "packing") == Ran(0, "packing: no item failed\n", "")
        until(
            shop,
            "shop\n"
            "queue    waiting  running  done  failed RATE\n"
            "packing        0        0     1       0 RATE\n"
            "sending        1        0     0       0 RATE\n"
            "sending: paused by wqc pause\n",
        )
        assert ask(shop, "resume", "sending") == Ran(0, "sending goes on\n", "")
        assert ask(shop, "resume", "sending") == Ran(0, "sending is not paused\n", "")
        until(
            shop,
            "shop\n"
            "queue    waiting  running  done  failed RATE\n"
            "packing        0        0     2       0 RATE\n"
            "sending        0        0     1       0 RATE\n",
        )
        assert ask(shop, "status").status == 0


def test_who_asks_for_an_item_that_is_tried_again_anyway_is_told_so(shop: Path) -> None:
    text = (shop / "shop.wq").read_text()
    (shop / "shop.wq").write_text(text.replace("retries = 0", "retries = 1"))
    with running(shop, f"{PERIODS} backoff=600 backoff_limit=600"):
        until(shop, "\npacking: a waits for another attempt: exit code 1; 1 more does\n")
        told = "packing: no failed item is called a: it waits for another attempt\n"
        assert ask(shop, "discard", "packing", "a") == Ran(1, "", told)


def test_who_asks_for_failed_items_that_a_reader_has_is_told_so(shop: Path) -> None:
    text = (shop / "shop.wq").read_text()
    text += "queue mending { from = packing.failed, worker = pack, retries = 0 }\n"
    (shop / "shop.wq").write_text(text)
    with running(shop):
        until(shop, "\npacking        0        0     0       2 ")
        told = "packing: no failed item is held: what reads packing.failed has them\n"
        assert ask(shop, "retry", "packing") == Ran(0, told, "")


def test_what_is_asked_while_no_manager_runs_is_done_by_the_next(shop: Path) -> None:
    assert run(shop, "--until-empty").status == 1
    noted = "packing: it is noted; shop's manager does it once it runs\n"
    assert ask(shop, "retry", "packing") == Ran(0, noted, "")
    (shop / "boxes").touch()
    with running(shop):
        until(shop, "\nsending        0        0     2 ")


def test_what_is_asked_and_not_done_yet_is_shown(shop: Path) -> None:
    assert run(shop, "--until-empty").status == 1
    assert ask(shop, "retry", "packing").status == 0
    assert ask(shop, "discard", "packing", "a", "b\n☃", "c", "d", "e").status == 0
    assert ask(shop, "pause", "sending").status == 0
    shown = plain(ask(shop, "status").out)
    assert shown.splitlines()[-3:] == [
        "sending: asked for, and not done yet: pause",
        "packing: asked for, and not done yet: retry of all that failed",
        r"packing: asked for, and not done yet: discard of a, b\n☃, c and 2 more",
    ]
    (workflow,) = json.loads(ask(shop, "status", "--format", "json").out)["workflows"]
    assert workflow["asked"][:2] == [
        {"queue": "sending", "action": "pause", "items": None},
        {"queue": "packing", "action": "retry", "items": None},
    ]
    (shop / "boxes").touch()
    assert run(shop, "--until-empty").status == 1
    assert "not done yet" not in ask(shop, "status").out
    assert ask(shop, "resume", "sending").status == 0
    assert ask(shop, "status").out.endswith("\nsending: asked for, and not done yet: resume\n")


def test_what_is_asked_is_done_though_nothing_else_is_left(shop: Path) -> None:
    assert run(shop, "--until-empty").status == 1
    assert ask(shop, "discard", "packing", "a").status == 0
    assert ask(shop, "discard", "packing").status == 0
    ran = run(shop, "--until-empty")
    assert (ran.status, ran.out.splitlines()[-2:]) == (
        0,
        [
            "packing: 0 waiting, 0 running, 2 done, 0 failed",
            "sending: 0 waiting, 0 running, 0 done, 0 failed",
        ],
    )


def test_what_is_asked_of_a_queue_is_done_by_it_under_its_next_name(shop: Path) -> None:
    assert run(shop, "--until-empty").status == 1
    assert ask(shop, "retry", "packing").status == 0
    assert ask(shop, "pause", "sending").status == 0
    (shop / "boxes").touch()
    text = (shop / "shop.wq").read_text().replace("from = packing", "from = boxing")
    text = text.replace("queue packing {", 'queue boxing { formerly = "packing",')
    text = text.replace("queue sending {", 'queue posting { formerly = "sending",')
    (shop / "shop.wq").write_text(text)
    ran = run(shop, "--until-empty")
    assert ran.status == 1
    assert "posting: 2 waiting, 0 running, 0 done, 0 failed; paused by wqc pause" in ran.out
    assert "posting: items left: 2; paused by wqc pause" in ran.err
    assert ask(shop, "resume", "posting").status == 0
    assert run(shop, "--until-empty").status == 0


def test_what_is_asked_of_a_manager_that_is_slow(shop: Path) -> None:
    with running(shop) as manager:
        until(shop, "\npacking        0        0     0       2 RATE")
        manager.send_signal(signal.SIGSTOP)
        try:
            noted = "packing: it is noted; shop's manager has still to see it\n"
            assert ask(shop, "discard", "packing") == Ran(0, noted, "")
        finally:
            manager.send_signal(signal.SIGCONT)
        until(shop, "\npacking        0        0     2       0 RATE")


def test_a_pause_while_no_manager_runs_is_the_next_ones(shop: Path) -> None:
    (shop / "boxes").touch()
    assert run(shop, "--until-empty").status == 0
    noted = "sending: shop's manager doesn't run; it starts nothing of sending once it does\n"
    assert ask(shop, "pause", "sending") == Ran(0, noted, "")
    assert ask(shop, "pause", "sending") == Ran(0, noted, "")
    with running(shop):
        until(shop, "\nsending: paused by wqc pause\n")
    noted = "sending: shop's manager doesn't run; it lets sending go on once it does\n"
    assert ask(shop, "resume", "sending") == Ran(0, noted, "")
    assert run(shop, "--until-empty").status == 0


def test_of_many_items_that_can_not_be_started_one_is_named(shop: Path) -> None:
    """Another process of the shop's has put what isn't this queue's in the way of each of its Jobs."""
    (shop / "boxes").touch()
    assert run(shop, "--until-empty").status == 0
    jobs = shop / ".wqc" / "shop" / "jobs"
    shutil.rmtree(shop / ".wqc" / "shop" / "ledger")
    for job in jobs.glob("*/job.json"):
        job.write_text(job.read_text().replace('\\"name\\":\\"', '\\"name\\":\\"not '))
    with running(shop):
        until(shop, "is of another item, not a; 1 more item can't be started\n")
        (workflow,) = json.loads(ask(shop, "status", "--format", "json").out)["workflows"]
        found = workflow["queues"][0]["troubled"]
        assert (found["count"], [each["item"] for each in found["first"]]) == (2, ["a", "b\n\u2603"])


def test_who_watches_goes_on_when_the_state_can_be_read_again(shop: Path) -> None:
    run(shop, "--until-empty")
    state = shop / ".wqc" / "shop" / "state.json"
    content = state.read_text()
    watching = subprocess.Popen(
        [sys.executable, "-m", "wqc", "status", "--state", ".wqc", "--watch", "--format", "json"],
        cwd=shop,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout
    assert watching.stderr
    assert watching.stdout.readline() == "{\n"
    state.write_text("{}")
    assert "state.json is damaged" in watching.stderr.readline()
    state.write_text(content)
    while watching.stdout.readline() != "{\n":
        assert watching.poll() is None
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=30)
    assert watching.returncode == 130


def test_at_a_terminal_each_look_takes_the_place_of_the_one_before(shop: Path) -> None:
    run(shop, "--until-empty")
    ours, theirs = os.openpty()
    watching = subprocess.Popen(
        [sys.executable, "-m", "wqc", "status", "--state", ".wqc", "--watch"], cwd=shop, stdout=theirs
    )
    os.close(theirs)
    shown = b""
    end = time.monotonic() + 60
    try:
        while shown.count(CLEAR) < 3:
            assert time.monotonic() < end, shown
            shown += os.read(ours, 1024)
    finally:
        watching.send_signal(signal.SIGINT)
        assert watching.wait(timeout=30) == 130
        os.close(ours)
    before, *screens = [plain(each.decode().replace("\r\n", "\n")) for each in shown.split(CLEAR)[:3]]
    assert before == ""
    assert screens == [plain(ask(shop, "status").out)] * 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("status",), "wqc: there is no folder .wqc; wqc run makes one\n"),
        (("pause", "x"), f"wqc: there is no folder .wqc; wqc run makes one; {IN_ITS_FILE}\n"),
        (("resume", "x"), "wqc: there is no folder .wqc; wqc run makes one\n"),
        (
            ("pause", "x", "-n", "y"),
            "wqc: --namespace is for a cluster, --state for this machine: give one of them\n",
        ),
    ],
)
def test_where_nothing_ever_ran(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    assert ask(tmp_path, *words) == Ran(2, "", told)


def test_nodes_can_be_asked_for_what_they_hold_and_not_paused(shop: Path) -> None:
    text = SHOP.replace("from = orders", "from = small") + (
        """filter small { from = orders, where = item.data.size < 5 }\n"""
    )
    (shop / "shop.wq").write_text(text % (shop / "boxes"))
    assert run(shop, "--until-empty").status == 1
    assert ask(shop, "discard", "smal") == Ran(
        2,
        "",
        "wqc: .wqc has no queue smal, and no node or source of that name that holds failed items, "
        "but packing, sending, small\n",
    )
    for verb, hint in (("pause", f"; {IN_ITS_FILE}"), ("resume", "")):
        told = f"wqc: .wqc has no queue smal, but packing, sending{hint}\n"
        assert ask(shop, verb, "smal") == Ran(2, "", told)
        assert ask(shop, verb, "small") == Ran(
            2, "", "wqc: small is no queue, and only queues can be paused; there are packing, sending\n"
        )
    shutil.copytree(shop / ".wqc" / "shop", shop / ".wqc" / "stall")
    assert ask(shop, "pause", "smal").err == (
        "wqc: .wqc has no queue smal, but shop/packing, shop/sending, stall/packing, stall/sending; "
        f"{IN_ITS_FILE}\n"
    )
    assert ask(shop, "pause", "packing").err == "wqc: which one? shop/packing, stall/packing\n"


def test_names_that_are_not_there(shop: Path) -> None:
    run(shop, "--until-empty")
    own = wqc("status", "--state", ".wqc/shop", folder=shop)
    assert own.err == f"wqc: .wqc/shop is one workflow's own; --state {shop / '.wqc'} has it\n"
    assert ask(shop, "status", "ship") == Ran(2, "", "wqc: .wqc has no workflow ship, but shop\n")
    assert ask(shop, "retry", "ship/packing") == Ran(2, "", "wqc: .wqc has no workflow ship, but shop\n")
    assert ask(shop, "retry", "sailing") == Ran(
        2,
        "",
        "wqc: .wqc has no queue sailing, and no node or source of that name that holds failed items, "
        "but packing, sending\n",
    )
    assert ask(shop, "pause", "sailing") == Ran(
        2, "", f"wqc: .wqc has no queue sailing, but packing, sending; {IN_ITS_FILE}\n"
    )
    (shop / ".wqc" / "shop" / "state.json").write_text("{}")
    broken = ask(shop, "status")
    assert (broken.status, broken.out) == (2, "")
    assert broken.err.startswith(
        "wqc: .wqc: .wqc/shop/state.json is damaged; move it away: pauses and how far"
    )
