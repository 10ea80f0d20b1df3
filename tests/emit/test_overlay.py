"""Raw fields merged into written YAML: the data that merging gives, and the rest of the text untouched."""

import copy
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from wqc.emit.overlay import merged

POD = """\
serviceAccountName: worker
# why
activeDeadlineSeconds: 600
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
containers:
  # the one that works
  - name: worker
    command: [sh, -ec]
    args:
      - |
        echo hello

        # no comment of ours
    securityContext:
      capabilities:
        drop: [ALL]
volumes:
  - name: tmp
    emptyDir:
      sizeLimit: 1Gi
"""


def plain_merge(base: Any, layer: Any) -> Any:
    """The meaning, without the text."""
    if isinstance(base, dict) and isinstance(layer, dict) and base:
        result = dict(base)
        for key, value in layer.items():
            if value is None:
                result.pop(key, None)
            else:
                result[key] = plain_merge(base[key], value) if key in base else value
        return result
    named = [
        isinstance(each, list) and all(isinstance(one, dict) and "name" in one for one in each)
        for each in (base, layer)
    ]
    if all(named) and base:
        result = copy.deepcopy(base)
        for entry in layer:
            at = next((index for index, one in enumerate(result) if one["name"] == entry["name"]), None)
            if at is None:
                result.append(entry)
            else:
                result[at] = plain_merge(result[at], entry)
        return result
    return layer


@pytest.mark.parametrize(
    ("layer", "new", "gone"),
    [
        ({"priorityClassName": "low"}, ["priorityClassName: low"], []),
        ({"activeDeadlineSeconds": 5}, ["activeDeadlineSeconds: 5"], ["activeDeadlineSeconds: 600"]),
        ({"activeDeadlineSeconds": None}, [], ["# why", "activeDeadlineSeconds: 600"]),
        ({"securityContext": {"supplementalGroups": [5]}}, ["  supplementalGroups: [5]"], []),
        (
            {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
            ["    type: Unconfined"],
            ["    type: RuntimeDefault"],
        ),
        ({"containers": [{"name": "worker", "tty": True}]}, ["    tty: true"], []),
        (
            {"containers": [{"name": "worker", "args": ["x"]}]},
            ["    args: [x]"],
            ["    args:", "      - |", "        echo hello", "", "        # no comment of ours"],
        ),
        (
            {
                "containers": [
                    {
                        "name": "worker",
                        "securityContext": {"capabilities": {"drop": ["KILL"], "add": ["CHOWN"]}},
                    }
                ]
            },
            ["        drop: [KILL]", "        add: [CHOWN]"],
            ["        drop: [ALL]"],
        ),
        (
            {"containers": [{"name": "log", "image": "x:1", "env": [{"name": "A", "value": "no"}]}]},
            ["  - name: log", "    image: x:1", "    env:", "      - name: A", '        value: "no"'],
            [],
        ),
        (
            {"volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory"}}]},
            ["      medium: Memory"],
            [],
        ),
        (
            {"tolerations": [{"key": "gpu", "operator": "Exists"}]},
            ["tolerations:", "  - key: gpu", "    operator: Exists"],
            [],
        ),
        ({"notThere": None}, [], []),
        (
            {"volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": None}}]},
            ["    emptyDir: {}"],
            ["    emptyDir:", "      sizeLimit: 1Gi"],
        ),
        ({"new": {"gone": None, "kept": 0}}, ["new:", "  kept: 0"], []),
    ],
)
def test_only_the_lines_that_it_is_about(layer: dict[str, Any], new: list[str], gone: list[str]) -> None:
    text = merged(POD, (layer,))
    before, after = POD.splitlines(), text.splitlines()
    assert [line for line in after if line not in before] == new
    assert [line for line in before if line not in after and line] == [line for line in gone if line]
    if "new" not in layer:
        assert yaml.safe_load(text) == plain_merge(yaml.safe_load(POD), layer)


def test_layers_one_after_the_other() -> None:
    text = merged(POD, ({"hostname": "a"}, {"hostname": "b", "subdomain": "c"}))
    assert text == POD + "hostname: b\nsubdomain: c\n"


def test_nothing_to_merge_changes_nothing() -> None:
    assert merged(POD, ()) == POD


KEYS = st.sampled_from(
    [
        "serviceAccountName",
        "securityContext",
        "containers",
        "volumes",
        "runAsNonRoot",
        "command",
        "env",
        "x",
        "no",
    ]
)
NAMED = st.fixed_dictionaries({"name": st.sampled_from(["worker", "tmp", "other"])})
VALUES = st.recursive(
    st.text(max_size=5) | st.integers(0, 9) | st.booleans(),
    lambda inner: (
        st.dictionaries(KEYS, inner, max_size=3)
        | st.lists(inner, max_size=3)
        | st.lists(
            st.tuples(NAMED, st.dictionaries(KEYS, inner, max_size=2)).map(lambda pair: pair[0] | pair[1]),
            max_size=3,
            unique_by=lambda entry: entry["name"],
        )
    ),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(KEYS, VALUES | st.none(), max_size=4), max_size=2))
def test_any_fields_at_all(layers: list[dict[str, Any]]) -> None:
    expected = yaml.safe_load(POD)
    for layer in layers:
        expected = plain_merge(expected, layer)
    assert yaml.safe_load(merged(POD, tuple(layers))) == expected


def test_one_volume_may_be_mounted_twice() -> None:
    pod = "containers:\n  - name: worker\n    volumeMounts:\n      - name: tmp\n        mountPath: /tmp\n"
    mounts = [
        {"name": "tmp", "mountPath": "/var/cache"},
        {"name": "tmp", "mountPath": "/tmp", "readOnly": True},
    ]
    read = yaml.safe_load(merged(pod, ({"containers": [{"name": "worker", "volumeMounts": mounts}]},)))
    assert read["containers"][0]["volumeMounts"] == [
        {"name": "tmp", "mountPath": "/tmp", "readOnly": True},
        {"name": "tmp", "mountPath": "/var/cache"},
    ]
