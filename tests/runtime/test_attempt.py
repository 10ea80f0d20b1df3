"""What the manager adds to a template. Names are frozen: Jobs and finished items are found by them."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from support.localrun import job_template
from wqc.contract.limits import LARGE_ITEM_BYTES, SMALL_ITEM_BYTES
from wqc.contract.settings import Lane, Parallelism
from wqc.runtime.queue.attempt import (
    Identity,
    attempt_name,
    item_fields,
    job_manifest,
    read_identity,
)
from wqc.runtime.queue.largeitem import ItemTooLarge, large_files
from wqc.runtime.stdin import stdin_text
from wqc.runtime.text import encode

OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "signup-email-on", "uid": "1-2", "controller": True}
EAST = Lane("east", Parallelism(1, 2), {"topology.kubernetes.io/zone": "eu-west-1a"})


@pytest.mark.parametrize(
    ("identity", "version", "name"),
    [
        (Identity("a", "", 0, 1, 0), "", "signup-email-on-nvtho27cjifxogsmjd7a-1"),
        (Identity("a", "7", 0, 1, 0), "7", "signup-email-on-docbnqpvgpty6hndrkzq-1"),
        (Identity("a", "7", 1, 12, 3), "7", "signup-email-on-744o5xvr2mazschekorq-12"),
        (Identity("\U0001f600\ud800\0/..\n", "", 0, 1, 0), "", "signup-email-on-6vmeh55qczrfgtgxuqja-1"),
    ],
)
def test_names_of_jobs(identity: Identity, version: str, name: str) -> None:
    assert attempt_name("signup", "email_on", version, identity) == name


def made(data: str, template: dict[str, Any] | None = None, lane: Lane = EAST) -> dict[str, Any]:
    identity = Identity("a", "7", 0, 2, 1)
    return job_manifest(
        template or yaml.safe_load(job_template("true")),
        OWNER,
        "signup",
        "email_on",
        lane,
        "job-1",
        identity,
        data,
    )


def test_a_whole_job() -> None:
    item = {"path": "item.json", "fieldRef": {"fieldPath": "metadata.annotations['wqc/item']"}}
    template = {
        "metadata": {"labels": {"app.kubernetes.io/name": "email-on"}},
        "spec": {
            "backoffLimit": 0,
            "template": {
                "metadata": {"labels": {"app.kubernetes.io/name": "email-on"}},
                "spec": {
                    "nodeSelector": {"disk": "fast"},
                    "volumes": [
                        {"name": "tmp", "emptyDir": {}},
                        {"name": "item", "downwardAPI": {"items": [item]}},
                    ],
                },
            },
        },
    }
    before = json.dumps(template)
    labels = {
        "app.kubernetes.io/name": "email-on",
        "wqc/workflow": "signup",
        "wqc/queue": "email_on",
        "wqc/lane": "east",
    }
    field = {"path": "fields/user", "fieldRef": {"fieldPath": "metadata.annotations['field.wqc/user']"}}
    assert made('{"user":"Ann","tags":[1]}', template) == {
        "metadata": {
            "name": "job-1",
            "ownerReferences": [OWNER],
            "labels": labels,
            "annotations": {"wqc/item": '{"name":"a","version":"7","round":0,"attempt":2,"failures":1}'},
        },
        "spec": {
            "backoffLimit": 0,
            "template": {
                "metadata": {
                    "labels": labels,
                    "annotations": {"wqc/item": '{"user":"Ann","tags":[1]}', "field.wqc/user": "Ann"},
                },
                "spec": {
                    "nodeSelector": {"disk": "fast", "topology.kubernetes.io/zone": "eu-west-1a"},
                    "volumes": [
                        {"name": "tmp", "emptyDir": {}},
                        {"name": "item", "downwardAPI": {"items": [item, field]}},
                    ],
                },
            },
        },
    }
    assert json.dumps(template) == before, "the template serves every item"


def test_standard_input_is_the_text_of_a_string_and_json_of_anything_else() -> None:
    template = yaml.safe_load(job_template("true"))
    files = template["spec"]["template"]["spec"]["volumes"][0]["downwardAPI"]["items"]
    files.append({"path": "stdin", "fieldRef": {"fieldPath": "metadata.annotations['wqc/stdin']"}})
    job = made('"a\\nb"', template)
    assert job["spec"]["template"]["metadata"]["annotations"]["wqc/stdin"] == "a\nb"
    assert stdin_text('{"a": 1}') == '{"a": 1}'
    assert stdin_text('"\\ud800"') == '"\\ud800"'


def test_scalars_with_plain_keys_become_files() -> None:
    data = {
        "text": "a\0b\n",
        "flag": True,
        "none": None,
        "number": 1.50,
        "whole": 12345678901234567890,
        "list": [1],
        "map": {},
        "lone": "\ud800",
        "": "no",
        "a-b": "no",
        "../up": "no",
        "x" * 64: "no",
        "1x": "no",
    }
    assert item_fields(json.dumps(data)) == {
        "text": "a\0b\n",
        "flag": "true",
        "none": "",
        "number": "1.5",
        "whole": "12345678901234567890",
    }
    assert item_fields("[1]") == {}
    assert len(item_fields(json.dumps({f"k{n}": n for n in range(60)}))) == 50


def test_the_data_of_a_large_item_is_not_in_its_job() -> None:
    small = made(json.dumps("x" * (SMALL_ITEM_BYTES - 2)))
    assert "wqc/large" not in small["metadata"]["annotations"]
    template = yaml.safe_load(job_template("true"))
    files = template["spec"]["template"]["spec"]["volumes"][0]["downwardAPI"]["items"]
    files.append({"path": "stdin", "fieldRef": {"fieldPath": "metadata.annotations['wqc/stdin']"}})
    large = made(json.dumps("x" * SMALL_ITEM_BYTES), template)
    assert large["metadata"]["annotations"]["wqc/large"] == "item.json,stdin"
    pod = large["spec"]["template"]
    assert "annotations" not in pod["metadata"]
    (volume,) = [each for each in pod["spec"]["volumes"] if each["name"] == "item"]
    items = [{"key": "item.json", "path": "item.json"}, {"key": "stdin", "path": "stdin"}]
    assert volume == {"name": "item", "configMap": {"name": "job-1", "items": items}}
    assert len(json.dumps(large)) < 4096
    # what the worker reads is the JSON itself
    large = made(json.dumps({"a": "x" * SMALL_ITEM_BYTES}), template)
    assert large["metadata"]["annotations"]["wqc/large"] == "item.json"
    (volume,) = [each for each in large["spec"]["template"]["spec"]["volumes"] if each["name"] == "item"]
    items[1]["key"] = "item.json"
    assert volume["configMap"]["items"] == items


@pytest.mark.parametrize(
    ("names", "data", "size"),
    [
        (("item.json",), "x" * (LARGE_ITEM_BYTES - 1), f"{LARGE_ITEM_BYTES + 1} bytes of JSON"),
        (("item.json", "stdin"), "x" * (LARGE_ITEM_BYTES // 2), f"{LARGE_ITEM_BYTES + 2} bytes, as JSON"),
    ],
)
def test_an_item_that_does_not_fit_says_how_large_it_is(names: tuple[str, ...], data: str, size: str) -> None:
    with pytest.raises(ItemTooLarge, match=size):
        large_files(names, json.dumps(data))
    files = large_files(names, json.dumps(data[:-2]))
    assert files == {name: data[:-2] if name == "stdin" else json.dumps(data[:-2]) for name in names}


@given(st.text(), st.text(), st.integers(0, 9), st.integers(1, 999), st.integers(0, 100))
def test_an_identity_is_read_as_it_was_written(
    name: str, version: str, round: int, attempt: int, failures: int
) -> None:
    identity = Identity(name, version, round, attempt, failures)
    assert read_identity(identity.text()) == identity
    identity.text().encode()


@given(st.text())
def test_a_text_that_is_no_identity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not an item's identity"):
        read_identity(text)


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.lists(st.text())))
def test_whatever_the_data_names_and_labels_stay_what_they_are(data: dict[str, Any]) -> None:
    job = made(encode(data))
    assert (job["metadata"]["name"], set(job["metadata"]["labels"].values())) == (
        "job-1",
        {"signup", "email_on", "east"},
    )
    pod = job["spec"]["template"]
    without = {key: value for key, value in pod["metadata"].items() if key != "annotations"}
    assert without == {"labels": job["metadata"]["labels"]}
    assert (
        pod["spec"]["containers"]
        == yaml.safe_load(job_template("true"))["spec"]["template"]["spec"]["containers"]
    )
    paths = [file["path"] for file in pod["spec"]["volumes"][0]["downwardAPI"]["items"]]
    assert all(".." not in path and path.count("/") <= 1 for path in paths)
    json.dumps(job).encode()
