"""The pod of one attempt: what reaches the worker, and what it may do."""

from typing import Any

import pytest

from support.built import EVERYTHING, Folder, mounts, variables

HEAD = 'workflow w\nsource s: kafka { brokers = "kafka:9092", topic = "t", arrives = 1h }\n'


def pod_of(worker: str, queue: str = "") -> dict[str, Any]:
    return Folder(
        f'{HEAD}worker w {{ image = "w:1", {worker} }}\nqueue q {{ from = s, worker = w, {queue} }}\n'
    ).pod("q")


def container_of(worker: str, queue: str = "") -> dict[str, Any]:
    (container,) = pod_of(worker, queue)["containers"]
    return dict(container)


@pytest.fixture(scope="module")
def everything() -> Folder:
    return Folder(EVERYTHING.read_text())


def test_a_worker_finds_its_item() -> None:
    container = container_of('command = ["work"]')
    assert variables(container) == {
        "WORK_ITEM_FILE": "/wqc/item/item.json",
        "WORK_ITEM_DIR": "/wqc/item/fields",
        "WORK_RESULT_FILE": "/dev/termination-log",
    }
    assert mounts(container) == {"/wqc/item": "item", "/tmp": "tmp"}


def test_a_script_is_run_by_the_shell_and_a_command_without() -> None:
    script = container_of('run = """\necho hello\n"""')
    assert (script["command"], script["args"]) == (["sh", "-ec"], ["echo hello\n"])
    command = container_of('command = ["work", "--fast"]')
    assert command["command"] == ["work", "--fast"]
    assert "args" not in command


def test_standard_input_is_the_item() -> None:
    pod = pod_of('command = ["work"], input = stdin')
    (container,) = pod["containers"]
    assert container["command"] == ["sh", "-c", 'exec "$@" < "$WORK_STDIN"', "sh"]
    assert container["args"] == ["work"]
    assert variables(container)["WORK_STDIN"] == "/wqc/item/stdin"
    items = pod["volumes"][0]["downwardAPI"]["items"]
    assert {each["path"]: each["fieldRef"]["fieldPath"] for each in items} == {
        "item.json": "metadata.annotations['wqc/item']",
        "stdin": "metadata.annotations['wqc/stdin']",
    }


def test_a_queues_env_goes_before_its_workers() -> None:
    container = container_of(
        'command = ["w"], env = { A = "worker", B = "worker" }', 'env = { A = "queue", C = "queue" }'
    )
    given = {name: value for name, value in variables(container).items() if len(name) == 1}
    assert given == {"A": "queue", "B": "worker", "C": "queue"}


def test_the_steps_of_a_pipeline(everything: Folder) -> None:
    pod = everything.pod("one")
    seed, *steps = pod["initContainers"] + pod["containers"]
    assert [each["name"] for each in (seed, *steps)] == ["seed", "fetch", "store", "worker"]
    assert seed["command"][-3:] == ["/wqc/item/item.json", "/wqc/steps/1.json", "/wqc/steps/2.json"]
    passed = [(variables(step)["WORK_ITEM_FILE"], variables(step)["WORK_RESULT_FILE"]) for step in steps]
    assert passed == [
        ("/wqc/item/item.json", "/wqc/steps/1.json"),
        ("/wqc/steps/1.json", "/wqc/steps/2.json"),
        ("/wqc/steps/2.json", "/dev/termination-log"),
    ]
    assert {mounts(step)["/wqc/scratch"] for step in steps} == {"scratch"}
    sizes = {each["name"]: each["emptyDir"]["sizeLimit"] for each in pod["volumes"] if "emptyDir" in each}
    assert sizes["scratch"] == "2Gi"


def test_what_a_pipeline_says_holds_for_steps_that_say_nothing(everything: Folder) -> None:
    pod = everything.pod("one")
    _, fetch, store = pod["initContainers"]
    assert mounts(fetch)["/films"] == mounts(store)["/films"] == "claim-films"
    assert fetch["resources"]["requests"] == {"cpu": "1", "memory": "64Mi"}
    assert store["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert store["securityContext"]["runAsUser"] == 30001
    assert "runAsUser" not in fetch["securityContext"]
    assert pod["securityContext"]["runAsUser"] == 10001


def test_restricted_by_default() -> None:
    pod = pod_of('command = ["w"]')
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 10001,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert pod["automountServiceAccountToken"] is False
    assert pod["restartPolicy"] == "Never"


def test_less_only_where_it_is_said(everything: Folder) -> None:
    pod = everything.pod("three")
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsUser"] == 0
    assert "runAsNonRoot" not in pod["securityContext"]
    assert container["securityContext"] == {"readOnlyRootFilesystem": True}
    assert "securityContext" not in container_of(
        'command = ["w"], writable_root = true, profile = privileged'
    )


@pytest.mark.parametrize(("timeout", "seconds"), [("10m", 600), ("1500ms", 2), ("1s", 1)])
def test_the_deadline_is_the_pods(timeout: str, seconds: int) -> None:
    assert pod_of('command = ["w"]', f"timeout = {timeout}")["activeDeadlineSeconds"] == seconds


@pytest.mark.parametrize(
    ("value", "volume", "source", "mount"),
    [
        ('pvc("a")', "claim-a", {"persistentVolumeClaim": {"claimName": "a"}}, {}),
        (
            'pvc("a", read_only = true, sub_path = "x/y")',
            "claim-a",
            {"persistentVolumeClaim": {"claimName": "a"}},
            {"subPath": "x/y", "readOnly": True},
        ),
        (
            'pvc("a", access = rox, read_only = true)',
            "claim-a",
            {"persistentVolumeClaim": {"claimName": "a", "readOnly": True}},
            {"readOnly": True},
        ),
        ('secret("a")', "secret-a", {"secret": {"secretName": "a"}}, {"readOnly": True}),
        ('secret("a", "k")', "secret-a", {"secret": {"secretName": "a"}}, {"subPath": "k", "readOnly": True}),
        ('config_map("a")', "config-a", {"configMap": {"name": "a"}}, {"readOnly": True}),
    ],
)
def test_mounts(value: str, volume: str, source: dict[str, Any], mount: dict[str, Any]) -> None:
    pod = pod_of(f'command = ["w"], mounts = {{ "/x" = {value} }}')
    (container,) = pod["containers"]
    assert container["volumeMounts"][-1] == {"name": volume, "mountPath": "/x", **mount}
    assert pod["volumes"][-1] == {"name": volume, **source}


def test_a_claim_mounted_twice_is_one_volume() -> None:
    pod = pod_of(
        'command = ["w"], mounts = { "/x" = pvc("a"), "/y" = pvc("a", read_only = true), "/tmp" = pvc("t") }'
    )
    assert [each["name"] for each in pod["volumes"]] == ["item", "claim-a", "claim-t"]


def test_volumes_of_long_names_have_short_ones() -> None:
    pod = pod_of(f'command = ["w"], mounts = {{ "/x" = pvc("{"a" * 100}"), "/y" = secret("a.b") }}')
    names = [each["name"] for each in pod["volumes"][-2:]]
    assert [name.partition("-")[0] for name in names] == ["claim", "secret"]
    assert all(len(name) < 64 and "." not in name for name in names)


def test_raw_fields_are_merged_last(everything: Folder) -> None:
    assert everything.pod("one")["tolerations"] == [{"key": "gpu", "operator": "Exists"}]
    (manager, *_) = everything.manager()["containers"]
    assert manager["env"] == [{"name": "TZ", "value": "UTC"}]
