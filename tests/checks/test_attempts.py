"""Timeouts, variables and mounts of an attempt."""

from support.findings import also, places

HEAD = 'workflow w\nsource s: items { items = ["a"] }\n'


def test_a_timeout_must_exceed_the_mean() -> None:
    text = (
        HEAD + 'worker k { image = "r/k:1", takes = 30s }\nqueue q { from = s, worker = k, timeout = %s }\n'
    )
    assert places(text % "31s", "WQ65") == []
    assert places(text % "30s", "WQ65") == [
        "WQ650 4:43 attempts are ended after 30s, and the mean item takes 30s <30s>"
    ]
    assert also(text % "10s", "WQ650") == ["30s: the mean"]
    own = text.replace("worker = k,", "worker = k, takes = 5s,")
    assert places(own % "10s", "WQ65") == []
    assert also(own % "4s", "WQ650") == ["5s: the mean"]


def test_the_mean_of_a_pipeline_is_its_steps() -> None:
    text = HEAD + (
        'worker a { image = "r/a:1", takes = 20s }\nworker b { image = "r/b:1", takes = 20s }\n'
        "worker c { pipeline = [a, b] }\nqueue q { from = s, worker = c, timeout = 30s }\n"
    )
    assert places(text, "WQ65") == [
        "WQ650 6:43 attempts are ended after 30s, and the mean item takes 40s <30s>"
    ]
    assert also(text, "WQ650") == ["worker c: its steps together"]


def test_variables_of_wqc() -> None:
    text = HEAD + (
        'worker k { image = "r/k:1", env = { WORK_ITEM_DIR = "/x", WORK = "fine" } }\n'
        'queue q { from = s, worker = k, env = { WORK_STDIN = "/x" } }\n'
    )
    assert places(text, "WQ65") == [
        "WQ651 3:37 wqc sets `WORK_ITEM_DIR` itself <WORK_ITEM_DIR>",
        "WQ651 4:41 wqc sets `WORK_STDIN` itself <WORK_STDIN>",
    ]


def test_mounts_of_wqc() -> None:
    text = HEAD + (
        'worker k { image = "r/k:1", mounts = {\n'
        '  "/tmp" = pvc("a"), "/wqcache" = pvc("b"),\n'
        '  "/wqc/item/" = pvc("c"), "/dev/termination-log" = pvc("d") } }\n'
        "queue q { from = s, worker = k }\n"
    )
    assert places(text, "WQ65") == [
        'WQ652 5:3 `/wqc/item/` is where wqc puts the item\'s files <"/wqc/item/">',
        'WQ652 5:28 `/dev/termination-log` is where wqc puts the item\'s files <"/dev/termination-log">',
    ]
