"""Volumes that can't be shared or written, and files that nobody can open."""

import pytest

from support.findings import advice, also, places

SOURCE = 'source films: files { path = "/media", volume = pvc("media"%s) }\n'
WORKER = 'worker k { image = "r/k:1", mounts = { "/media" = pvc("media"%s) } }\n'


def text(source: str = "", worker: str = "", rest: str = "queue q { from = films, worker = k }\n") -> str:
    return "workflow w\n" + SOURCE % source + WORKER % worker + rest


def test_one_node_at_a_time_for_manager_and_workers() -> None:
    assert places(text(), "WQ63") == []
    said_by_source = text(source=", access = rwo")
    assert places(said_by_source, "WQ63") == [
        'WQ630 2:49 pvc("media") can be on one node at a time, and several pods mount it '
        '<pvc("media", access = rwo)>'
    ]
    assert also(said_by_source, "WQ630") == ['pvc("media"): a pod of `q` mounts it']
    said_by_worker = text(worker=", access = rwo")
    assert also(said_by_worker, "WQ630") == ['pvc("media"): the manager\'s pod mounts it']


def test_one_node_at_a_time_for_several_pods_of_one_queue() -> None:
    alone = (
        'workflow w\nsource s: items { items = ["a"] }\n'
        'worker k { image = "r/k:1", mounts = { "/d" = pvc("d", access = rwo) } }\n'
        "queue q { from = s, worker = k, parallelism = %s }\n"
    )
    assert places(alone % "1", "WQ63") == []
    assert len(places(alone % "0..2", "WQ63")) == 1
    assert len(places(alone % "1" + "queue r { from = q, worker = k }\n", "WQ63")) == 1
    lanes = (
        alone.replace("from = s", "from = h") + "sharder h { from = s, key = item.name, shards = [a, b] }\n"
    )
    assert len(places(lanes % "1", "WQ63")) == 1


def test_steps_of_a_pipeline_share_a_pod() -> None:
    steps = (
        'workflow w\nsource s: items { items = ["a"] }\n'
        'worker a { image = "r/k:1", mounts = { "/d" = pvc("d", access = rwo) } }\n'
        'worker b { image = "r/k:1", mounts = { "/d" = pvc("d") } }\n'
        "worker c { pipeline = [a, b] }\n"
        "queue q { from = s, worker = c }\n"
    )
    assert places(steps, "WQ63") == []
    assert len(places(steps.replace("worker = c", "worker = c, parallelism = 2"), "WQ63")) == 1


def test_an_ambassadors_mounts_count() -> None:
    own = (
        'workflow w\nsource s: container { image = "r/s:1", mounts = { "/d" = pvc("d", access = rwo) } }\n'
        'worker k { image = "r/k:1", mounts = { "/e" = pvc("d") } }\n'
        "queue q { from = s, worker = k }\n"
    )
    assert [each[:10] for each in places(own, "WQ63")] == ["WQ630 2:58"]


def test_read_only_many_is_not_written() -> None:
    assert places(text(source=", access = rox", worker=", access = rox, read_only = true"), "WQ63") == []
    assert places(text(worker=", access = rox"), "WQ63") == [
        'WQ631 3:51 pvc("media") can only be read, and this mounts it for writing '
        '<pvc("media", access = rox)>'
    ]


def test_files_that_no_worker_can_open() -> None:
    lost = text().replace(', mounts = { "/media" = pvc("media") }', "")
    assert places(lost, "WQ63") == [
        'WQ632 2:49 no worker that gets the files of `films` mounts their volume <pvc("media")>'
    ]
    assert advice(lost, "WQ632") == ['add `mounts = { "/media" = pvc("media") }` to `k`']
    assert also(lost, "WQ632") == ["k: gets the paths of its files"]


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ("queue q { from = films, worker = bare }\n", 1),
        # one that mounts it is enough: others may only need the name
        (
            "copier c { from = films }\nqueue q { from = c, worker = k }\n"
            "queue r { from = c, worker = bare }\n",
            0,
        ),
        # a finished item comes with the data that it had
        ("queue q { from = films, worker = bare }\nqueue r { from = q, worker = k }\n", 0),
        # unless the result takes its place
        ("queue q { from = films, worker = bare, result = required }\nqueue r { from = q, worker = k }\n", 1),
        ("queue q { from = films, worker = bare }\nqueue r { from = q.failed, worker = k }\n", 1),
        ("filter f { from = films, where = item.data.size > 0 }\nqueue q { from = f, worker = k }\n", 0),
    ],
)
def test_files_are_followed_through_the_graph(rest: str, found: int) -> None:
    bare = 'worker bare { image = "r/b:1" }\n'
    assert len(places(text(rest=bare + rest), "WQ632")) == found


def test_files_at_another_path() -> None:
    moved = text().replace('"/media" = pvc', '"/data" = pvc')
    assert places(moved, "WQ63") == [
        'WQ633 3:50 the files of `films` are below /media in its items and below /data here <pvc("media")>'
    ]
    assert places(text().replace('{ "/media" = pvc', '{ "/media/" = pvc'), "WQ63") == []
    part = text(source=', sub_path = "films"').replace('"/media" = pvc', '"/data" = pvc')
    assert places(part, "WQ63") == [], "another folder of the volume: nothing can be said"
