"""Names that are too long for what is derived from them."""

from support.findings import also, places
from wqc.contract.names import JOB_PREFIX_LIMIT, item_hash, job_name, object_name
from wqc.diagnostics.source import Source
from wqc.pipeline import Options, build

HEAD = """workflow mail
source s: items { items = ["a"] }
worker k { image = "r/k:1" }
"""


def test_a_queue_leaves_room_for_items_and_attempts() -> None:
    fits = "q" * (JOB_PREFIX_LIMIT - len("mail-"))
    assert len(job_name(object_name("mail", fits), item_hash("a", ""), 100)) == 63
    assert places(HEAD + f"queue {fits} {{ from = s, worker = k }}\n", "WQ60") == []
    assert places(HEAD + f"queue {fits}qq {{ from = s, worker = k }}\n", "WQ60") == [
        f"WQ601 4:7 `mail-{fits}qq` is 2 characters too long <{fits}qq>"
    ]
    assert also(HEAD + f"queue {fits}q {{ from = s, worker = k }}\n", "WQ601") == [
        "mail: the workflow's name comes first"
    ]


def test_other_nodes_may_have_all_of_a_label() -> None:
    fits = "c" * (63 - len("mail-"))
    tail = "queue q { from = %s, worker = k }\nqueue r { from = %s, worker = k }\n"
    assert places(HEAD + f"copier {fits} {{ from = s }}\n" + tail % (fits, fits), "WQ60") == []
    assert places(HEAD + f"copier {fits}c {{ from = s }}\n" + tail % (f"{fits}c", f"{fits}c"), "WQ60") == [
        f"WQ601 4:8 `mail-{fits}c` is 1 character too long <{fits}c>"
    ]


def test_a_batch_leaves_room_for_its_hash_and_its_pods_numbers() -> None:
    head = (
        'workflow mail\nsource s: redis_list { brokers = "r:1", key = "k" }\n'
        'worker k { image = "r/k:1", command = ["k"] }\n'
    )

    def longest(kind: str, more: str) -> int:
        """The Job's name with the longest batch name that is let through."""
        for length in range(60, 0, -1):
            name = "b" * length
            text = head + f"batch {name}: {kind} {{ from = s, worker = k{more} }}\n"
            if not places(text, "WQ60"):
                (job,) = (
                    each.name for each in build(Source("w.wq", text), Options()).objects if each.kind == "Job"
                )
                assert job.startswith(f"mail-{name}-")
                return len(job)
        raise AssertionError("none")

    assert longest("coarse", ", completions = 10") == 63
    assert longest("coarse", "") == 63 - len("-99999")
    assert longest("fine", "") == 63 - len("-1")
    assert longest("fine", ", parallelism = 10") == 63 - len("-10")


def test_a_workflow_too_long_for_anything_is_told_once() -> None:
    text = HEAD.replace("mail", "m" * 60) + "queue q { from = s, worker = k }\n"
    assert places(text, "WQ60") == [f"WQ602 1:10 `{'m' * 60}-manager` is 5 characters too long <{'m' * 60}>"]


def test_lanes_become_labels() -> None:
    long = "l" * 64
    sharder = f"sharder h {{ from = s, key = item.name, shards = [a, {long}] }}\n"
    queue = "queue q { from = h, worker = k }\n"
    told = f"WQ603 4:53 `{long}` is 1 character too long <{long}>"
    assert places(HEAD + sharder + queue, "WQ60") == [told]
    mapped = f'sharder h {{ from = s, key = item.name, shards = {{ a = zone("a"), {long} = zone("b") }} }}\n'
    assert places(HEAD + mapped + queue, "WQ60") == [told.replace("4:53", "4:66")]
    merged = "merger m { from = h }\nqueue q { from = m, worker = k }\n"
    assert places(HEAD + sharder + merged, "WQ60") == [], "no queue makes lanes of it"


def test_a_node_named_like_something_of_the_workflows_own() -> None:
    text = HEAD + "queue manager { from = s, worker = k }\nqueue state { from = manager, worker = k }\n"
    assert places(text, "WQ604") == [
        "WQ604 4:7 two objects would be ConfigMap `mail-manager` <manager>",
        "WQ604 5:7 two objects would be ConfigMap `mail-state` <state>",
    ]
    assert also(HEAD + "queue state { from = s, worker = k }\n", "WQ604") == ["mail: and the workflow's own"]
    assert places(HEAD + "filter state { from = s, where = true }\n", "WQ604") == [], "it has no object"


def test_containers_have_names_too() -> None:
    long = "l" * 64
    pipeline = f'worker {long} {{ image = "r/l:1" }}\nworker p {{ pipeline = [{long}, k] }}\n'
    assert places(HEAD + pipeline + "queue q { from = s, worker = p }\n", "WQ60") == [
        f"WQ603 5:23 `{long}` is 1 character too long <[{long}, k]>"
    ]
    source = f'source {"s" * 57}: http {{ url = "http://a", auth = secret("a", "b") }}\n'
    text = (
        "workflow w\n"
        + source
        + f'worker k {{ image = "r/k:1" }}\nqueue q {{ from = {"s" * 57}, worker = k }}\n'
    )
    assert places(text, "WQ60") == [f"WQ603 2:8 `source-{'s' * 57}` is 1 character too long <{'s' * 57}>"]
