"""What queues of earlier builds have finished stays with someone."""

from support.findings import advice, also, places

HEAD = """source s: items { items = ["a"] }
source t: items { items = ["b"] }
worker k { image = "r/k:1", takes = 10s }
queue q { from = s, worker = k }
"""


def earlier(*names: str):  # type: ignore[no-untyped-def]
    return lambda workflow: dict.fromkeys(names if workflow == "w" else ("another",), "")


def test_a_queue_that_is_gone() -> None:
    text = 'workflow w { retired = ["o"] }\n' + HEAD + "queue r { from = t, worker = k }\n"
    assert places(text, "WQ408", earlier_queues=earlier("o", "p", "q", "r")) == [
        "WQ408 1:1 the previous build had a queue `p`, and it is gone <workflow w>"
    ]
    assert advice(text, "WQ408", earlier_queues=earlier("o", "p", "q", "r")) == [
        'if it was taken out, add to the workflow: retired = ["o", "p"]'
    ]


def test_the_queue_that_it_became() -> None:
    text = "workflow w\n" + HEAD + "queue r { from = t, worker = k }\n"
    assert advice(text, "WQ408", earlier_queues=earlier("p", "q")) == [
        'if it was renamed, add to `r`: formerly = "p"',
        'if it was taken out, add to the workflow: retired = ["p"]',
    ]
    assert advice(text, "WQ408", earlier_queues=earlier("p"))[0] == (
        'if it was renamed, add to the queue that it became: formerly = "p"'
    )


def test_renamed_or_retired_is_not_gone() -> None:
    text = 'workflow w { retired = ["o"] }\n' + HEAD + 'queue r { from = t, worker = k, formerly = "p" }\n'
    assert places(text, "WQ4", earlier_queues=earlier("o", "p", "q", "r")) == []


def test_an_incomplete_file_has_dropped_nothing() -> None:
    text = "workflow w\n" + HEAD + "queue p { from = t, worker = k, retries = -1 }\n"
    assert places(text, "WQ4", earlier_queues=earlier("p", "q")) == []


def test_names_that_can_not_be_taken_over() -> None:
    text = "workflow w\n" + HEAD + 'queue r { from = t, worker = k, formerly = "q" }\n'
    assert places(text, "WQ4") == ['WQ409 6:44 `q` can\'t be a former name: there is a queue `q` <"q">']
    assert also(text, "WQ409") == ["q: declared here"]
    own = "workflow w\n" + HEAD + 'queue r { from = t, worker = k, formerly = "r" }\n'
    assert places(own, "WQ4") == ['WQ409 6:44 `r` can\'t be a former name: there is a queue `r` <"r">']


def test_one_former_name_for_two() -> None:
    text = (
        "workflow w\n"
        + HEAD.replace("worker = k }", 'worker = k, formerly = "p" }')
        + 'queue r { from = t, worker = k, formerly = "p" }\n'
    )
    assert places(text, "WQ4") == ['WQ410 6:44 `p` is already the former name of another queue <"p">']
    assert also(text, "WQ410") == ['"p": first here']


def test_retired_and_yet_there() -> None:
    text = (
        'workflow w { retired = ["p", "q"] }\n' + HEAD + 'queue r { from = t, worker = k, formerly = "p" }\n'
    )
    assert places(text, "WQ4") == [
        'WQ411 1:24 `p` is retired and yet `r` continues it <["p", "q"]>',
        'WQ411 1:24 `q` is retired and yet `q` is declared <["p", "q"]>',
    ]


def test_another_rework_than_before() -> None:
    """By the queue's own name or its former one; nothing is known of one that was retired."""
    text = (
        "workflow w\n"
        + HEAD
        + 'queue r { from = t, worker = k, rework = on_change, formerly = "p" }\n'
        + 'source u: items { items = ["c"] }\nqueue o { from = u, worker = k, rework = on_change }\n'
    )

    def before(workflow: str) -> dict[str, str]:
        return {"q": "on_change", "p": "never", "o": ""}

    assert places(text, "WQ414", earlier_queues=before) == [
        "WQ414 5:7 `q` had `rework = on_change` in the previous build, and has `never` now: items whose "
        "listed version it hasn't finished are worked on once more, and then never again <q>",
        "WQ414 6:42 `r` had `rework = never` in the previous build, and has `on_change` now: what it has "
        "finished counts as finished in the version that is listed then <on_change>",
    ]
    same = {"q": "never", "p": "on_change", "o": "on_change"}
    assert places(text, "WQ414", earlier_queues=lambda workflow: same) == []
    broken = text.replace("rework = on_change", "rework = maybe")
    assert places(broken, "WQ414", earlier_queues=before) == []
