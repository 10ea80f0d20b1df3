"""Who may connect to what."""

from typing import Any

import pytest

from support.built import EVERYTHING, Folder
from wqc.emit.objects.network import _port


def policies(folder: Folder) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each["spec"] for each in folder.objects("network.yaml")}


def ports(spec: dict[str, Any]) -> set[int]:
    return {port["port"] for rule in spec["egress"] for port in rule.get("ports", ())}


@pytest.fixture(scope="module")
def everything() -> dict[str, dict[str, Any]]:
    return policies(Folder(EVERYTHING.read_text()))


def test_nothing_connects_to_any_pod(everything: dict[str, dict[str, Any]]) -> None:
    spec = everything["everything-ingress"]
    assert spec == {
        "podSelector": {"matchLabels": {"app.kubernetes.io/part-of": "everything"}},
        "policyTypes": ["Ingress"],
    }


def test_workers_do_not_reach_the_clouds_metadata(everything: dict[str, dict[str, Any]]) -> None:
    (anywhere, names) = everything["everything-workers"]["egress"]
    blocks = [peer["ipBlock"] for peer in anywhere["to"] if "ipBlock" in peer]
    assert {"cidr": "0.0.0.0/0", "except": ["169.254.0.0/16"]} in blocks
    assert {port["port"] for port in names["ports"]} == {53}


def test_the_general_policy_leaves_out_whom_another_narrows(everything: dict[str, dict[str, Any]]) -> None:
    """Policies add up: one that allows all would undo the narrow ones."""
    (queues, batches) = everything["everything-workers"]["podSelector"]["matchExpressions"]
    assert queues == {"key": "wqc/queue", "operator": "NotIn", "values": ["one", "two", "class"]}
    assert batches == {"key": "wqc/batch", "operator": "NotIn", "values": ["eat"]}


def test_no_egress_is_none(everything: dict[str, dict[str, Any]]) -> None:
    spec = everything["everything-one-egress"]
    assert spec["policyTypes"] == ["Egress"]
    assert "egress" not in spec
    assert spec["podSelector"]["matchLabels"]["wqc/queue"] == "one"


def test_listed_networks_and_names(everything: dict[str, dict[str, Any]]) -> None:
    (listed, _) = everything["everything-two-egress"]["egress"]
    assert listed == {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}


def test_a_batchs_sidecar_reaches_its_broker_even_so(everything: dict[str, dict[str, Any]]) -> None:
    assert ports(everything["everything-eat-egress"]) == {5672, 15672, 53}


def test_the_manager_reaches_what_its_sources_need(everything: dict[str, dict[str, Any]]) -> None:
    spec = everything["everything-manager"]
    assert ports(spec) == {443, 6443, 22, 9092, 9093, 9094, 53}
    assert spec["egress"][0]["to"] == [{"ipBlock": {"cidr": "10.0.0.1/32"}}]


def test_all_narrowed_leave_no_general_policy() -> None:
    text = 'workflow w\nsource s: items { items = ["a"] }\n'
    text += 'worker w { image = "w:1", command = ["w"], egress = none }\nqueue q { from = s, worker = w }\n'
    made = policies(Folder(text))
    assert set(made) == {"w-ingress", "w-q-egress", "w-manager"}
    assert "to" not in made["w-manager"]["egress"][0]


@pytest.mark.parametrize(
    ("address", "port"),
    [
        ("kafka:9092", 9092),
        ("https://git.example.com/a.git", 443),
        ("http://catalogue:8080/x", 8080),
        ("http://catalogue", 80),
        ("ssh://git@git.example.com/b.git", 22),
        ("ssh://git@git.example.com:2222/b.git", 2222),
        ("https://user:pw@host:8443/", 8443),
        ("http://[::1]:81/", 81),
        ("git://host/x", 9418),
        ("/srv/repo.git", 0),
        ("file:///srv/repo.git", 0),
    ],
)
def test_the_port_of_an_address(address: str, port: int) -> None:
    assert _port(address) == port
