"""Which sources and carriers the manager runs itself, and which an ambassador serves."""

import pytest

from wqc.diagnostics.source import Source
from wqc.emit.placement import Placement, place
from wqc.model.workflow import Workflow
from wqc.pipeline import Options, check

WORKER = 'worker w { image = "w:1", command = ["w"] }\n'
KAFKA = 'kafka { brokers = "kafka:9092", topic = "t"'
REDIS = 'redis_list { brokers = "redis:6379", key = "k"'


def placed(*statements: str) -> Placement:
    """The sources `s1`, `s2`, … are merged into one queue."""
    text = "workflow w\n" + WORKER
    text += "".join(f"source s{number}: {each} }}\n" for number, each in enumerate(statements, 1))
    names = ", ".join(f"s{number}" for number in range(1, len(statements) + 1))
    text += f"merger m {{ from = [{names}] }}\nqueue q {{ from = m, worker = w }}\n"
    return place(workflow(text))


def workflow(text: str) -> Workflow:
    found = check(Source("w.wq", text), Options()).workflow
    assert found is not None
    return found


@pytest.mark.parametrize(
    "source",
    [
        KAFKA,
        REDIS,
        'git { url = "https://git.example.com/a.git"',
        'http { url = "http://catalogue"',
        'items { items = ["a"]',
        'object_store { endpoint = "https://s3.example.com", bucket = "abc"',
    ],
)
def test_what_holds_nothing_runs_in_the_manager(source: str) -> None:
    placement = placed(source)
    assert [node.name for node in placement.inside] == ["s1"]
    assert not placement.ambassadors
    assert placement.url(placement.inside[0]) == ""


@pytest.mark.parametrize(
    "source",
    [
        f'{KAFKA}, auth = secret("k", "password")',
        f'{KAFKA}, tls = secret("k", "ca.crt")',
        'files { path = "/a", volume = pvc("a")',
        'object_store { endpoint = "https://s3.example.com", bucket = "abc", secret_key = secret("s", "k")',
        'git { url = "https://git.example.com/a.git", auth = secret("g", "token")',
        'http { url = "http://catalogue", auth = secret("h", "token")',
    ],
)
def test_credentials_and_volumes_are_held_by_an_ambassador(source: str) -> None:
    placement = placed(source)
    (ambassador,) = placement.ambassadors
    assert not placement.inside
    assert (ambassador.name, ambassador.port) == ("source-s1", 8081)
    assert placement.url(ambassador.nodes[0]) == "http://127.0.0.1:8081/s1"


def test_alike_sources_share_one() -> None:
    mine, theirs = (f'{REDIS}, auth = secret("{name}", "password")' for name in ("mine", "theirs"))
    placement = placed(mine, theirs, mine, KAFKA, f'{KAFKA}, auth = secret("mine", "password")')
    assert [[node.name for node in each.nodes] for each in placement.ambassadors] == [
        ["s1", "s3"],
        ["s2"],
        ["s5"],
    ]
    assert [each.port for each in placement.ambassadors] == [8081, 8082, 8083]
    assert [node.name for node in placement.inside] == ["s4"]
    assert placement.url(placement.ambassadors[0].nodes[1]) == "http://127.0.0.1:8081/s3"


def test_other_mounts_are_another_ambassador() -> None:
    films = 'files { path = "/films", volume = pvc("media")'
    placement = placed(films, f'{films}, match = "*.mp4"', 'files { path = "/films", volume = pvc("other")')
    assert [len(each.nodes) for each in placement.ambassadors] == [2, 1]


def test_a_users_own_keeps_its_port_and_nobody_else_gets_it() -> None:
    placement = placed('files { path = "/a", volume = pvc("a")', 'container { image = "own:1", port = 8081')
    assert [each.port for each in placement.ambassadors] == [8082, 8081]
    assert placement.url(placement.ambassadors[1].nodes[0]) == "http://127.0.0.1:8081"


def test_a_carrier_with_credentials_has_an_ambassador_of_its_own() -> None:
    text = (
        "workflow w\n"
        + WORKER
        + f"source s: {KAFKA} }}\nqueue q {{ from = s, worker = w }}\ncopier c {{ from = q }}\n"
    )
    text += (
        f'carrier open: {KAFKA}, from = c }}\ncarrier closed: {KAFKA}, from = c, auth = secret("k", "p") }}\n'
    )
    placement = place(workflow(text))
    assert [node.name for node in placement.inside] == ["s", "open"]
    assert [each.name for each in placement.ambassadors] == ["carrier-closed"]


def test_what_a_batch_reads_is_read_in_its_own_pods() -> None:
    text = "workflow w\n" + WORKER + f"source s: {REDIS} }}\nbatch b: fine {{ from = s, worker = w }}\n"
    placement = place(workflow(text))
    assert placement == Placement((), (), has_manager=False)
