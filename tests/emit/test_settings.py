"""What the manager reads: no defaults, the units of the contract."""

import msgspec
import pytest
import yaml

from support.built import EVERYTHING, Folder
from wqc.contract.settings import CarrierSettings, QueueSettings, SourceSettings

HEAD = 'workflow w\nsource s: kafka { brokers = "kafka:9092", topic = "t" }\n'
HEAD += 'worker w { image = "w:1", command = ["w"] }\n'


def test_defaults_are_left_out() -> None:
    folder = Folder(
        f"{HEAD}queue q {{ from = s, worker = w, retries = 3, result = none, deadline = 1h, keep = 1h }}\n"
    )
    assert folder.settings("q") == {
        "queue": "q",
        "lanes": [{"name": "", "parallelism": {"min": 1, "max": 1}}],
    }


def test_all_that_is_said() -> None:
    said = "parallelism = 0..5, retries = 0, result = optional, rework = on_change, poison = [1, 65]"
    said += ", deadline = 90s, handover = 7, failed_limit = 8, keep = 500ms, paused = true"
    said += ', formerly = "old", takes = 1500ms'
    assert Folder(f"{HEAD}queue q {{ from = s, worker = w, {said} }}\n").settings("q") == {
        "queue": "q",
        "lanes": [{"name": "", "parallelism": {"min": 0, "max": 5}}],
        "retries": 0,
        "result": "optional",
        "rework": "on_change",
        "poison": [1, 65],
        "deadline": 90,
        "handover": 7,
        "failed_limit": 8,
        "keep": 0.5,
        "paused": True,
        "formerly": "old",
        "takes": 1.5,
    }


LANES = """shards = { a = zone("z1"), b = nodes({ disk = "ssd" }) }, rollout = { order = [b, a], prove = 5 } }
"""


@pytest.mark.parametrize(
    "between", ["", 'filter f { from = r, where = item.name != param.no }\nparam no = "x"\n']
)
def test_lanes_keep_their_nodes_through_a_pattern(between: str) -> None:
    text = f"{HEAD}sharder r {{ from = s, key = item.name, {LANES}{between}"
    text += f"queue q {{ from = {'f' if between else 'r'}, worker = w, parallelism = 1..2 }}\n"
    settings = Folder(text).settings("q")
    parallelism = {"min": 1, "max": 2}
    assert settings["lanes"] == [
        {"name": "a", "parallelism": parallelism, "node_selector": {"topology.kubernetes.io/zone": "z1"}},
        {"name": "b", "parallelism": parallelism, "node_selector": {"disk": "ssd"}},
    ]
    assert settings["rollout"] == {"order": ["b", "a"], "prove": 5}


def test_rates_become_the_mean_time_between_items() -> None:
    text = HEAD.replace('topic = "t"', 'topic = "t", arrives = 2s')
    text += "filter f { from = s, where = item.data.x, share = 0.25 }\nqueue q { from = f, worker = w }\n"
    assert Folder(text).settings("q")["arrives"] == 8


def test_the_run_time_reads_them_as_the_contract_says() -> None:
    folder = Folder(EVERYTHING.read_text())
    shapes = {"settings.yaml": QueueSettings, "source.yaml": SourceSettings, "carrier.yaml": CarrierSettings}
    seen = set()
    for file in folder.built.files:
        if file.startswith(("queue-", "source-", "carrier-")):
            for key, text in folder.object(file, "ConfigMap")["data"].items():
                if key in shapes:
                    msgspec.convert(yaml.safe_load(text), shapes[key])
                    seen.add(key)
    assert seen == set(shapes)


def test_sizes_are_those_of_the_data() -> None:
    folder = Folder(EVERYTHING.read_text())
    for identity in folder.built.objects:
        found = folder.object(identity.file, identity.kind, identity.name)
        data = found.get("data", {}) if identity.kind == "ConfigMap" else {}
        assert identity.size == sum(len(text.encode()) for text in data.values())
    listed = [(each.file, each.kind, each.name) for each in folder.built.objects]
    assert sorted(listed) == sorted(
        (file, each["kind"], each["metadata"]["name"])
        for file in folder.built.files
        if file.endswith(".yaml") and file != "kustomization.yaml"
        for each in folder.objects(file)
    )
