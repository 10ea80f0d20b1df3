"""The manager's pod, its access and its program."""

import pytest

from support.built import EVERYTHING, Folder, mounts

TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"


@pytest.fixture(scope="module")
def everything() -> Folder:
    return Folder(EVERYTHING.read_text(), "everything.wq")


def test_the_token_is_the_managers_alone_and_credentials_are_not(everything: Folder) -> None:
    pod = everything.manager()
    assert pod["automountServiceAccountToken"] is False
    volumes = {each["name"]: each for each in pod["volumes"]}
    for container in pod["containers"]:
        secrets = [path for path, name in mounts(container).items() if "secret" in str(volumes[name])]
        assert (TOKEN in mounts(container)) == (container["name"] == "manager")
        if container["name"] == "manager":
            assert not secrets
            assert "secretKeyRef" not in str(container)


def test_an_ambassador_gets_its_own_keys_and_no_others(everything: Folder) -> None:
    volumes = {each["name"]: each for each in everything.manager()["volumes"]}
    (password, authority) = volumes["source-secure-credentials"]["projected"]["sources"]
    assert password["secret"] == {"name": "kafka", "items": [{"key": "password", "path": "kafka/password"}]}
    assert authority["secret"] == {
        "name": "kafka-ca",
        "items": [{"key": "ca.crt", "path": "kafka-ca/ca.crt"}],
    }
    settings = everything.object("source-secure.yaml", "ConfigMap")["data"]["source.yaml"]
    assert "file: /etc/wqc-credentials/kafka/password" in settings


def test_nobody_shares_a_folder_for_temporary_files(everything: Folder) -> None:
    of = [
        (mount["name"], mount.get("subPath"))
        for container in everything.manager()["containers"]
        for mount in container["volumeMounts"]
        if mount["mountPath"] == "/tmp"
    ]
    assert len(of) == len(set(of)) == 5


def test_every_container_listens_elsewhere(everything: Folder) -> None:
    ports = [
        argument.removeprefix("--port=")
        for container in everything.manager()["containers"]
        for argument in container.get("command", ())
        if argument.startswith("--port=")
    ]
    assert ports == ["8082", "8083", "8084"]


def test_the_role_names_what_it_can() -> None:
    text = EVERYTHING.read_text()
    rules = Folder(text).object("access.yaml", "Role")["rules"]
    assert all("*" not in str(rule) for rule in rules)
    named = {tuple(rule["resourceNames"]): rule["verbs"] for rule in rules if "resourceNames" in rule}
    queues = tuple(f"everything-{name}" for name in ("one", "two", "three", "class", "manager"))
    assert named[queues] == ["get"]
    assert "everything-state" in str(named)
    assert not any("secrets" in rule["resources"] for rule in rules)


def test_a_workflow_of_batches_has_no_manager() -> None:
    text = 'workflow b\nsource s: redis_list { brokers = "redis:6379", key = "k" }\n'
    text += 'worker w { image = "w:1", command = ["w"] }\nbatch eat: fine { from = s, worker = w }\n'
    folder = Folder(text)
    assert "manager.yaml" not in folder.built.files
    assert [each["kind"] for each in folder.objects("access.yaml")] == ["ServiceAccount"]


@pytest.mark.parametrize(
    ("manager", "option", "image"),
    [
        ("", "", "wqc-runtime:0.1.0"),
        ("", "example.com/r:2", "example.com/r:2"),
        ('manager { image = "example.com/r:1" }\n', "example.com/r:2", "example.com/r:1"),
    ],
)
def test_the_runtime_image(manager: str, option: str, image: str) -> None:
    text = f'workflow w\n{manager}source s: items {{ items = ["a"] }}\n'
    text += 'worker w { image = "w:1", command = ["w"] }\nqueue q { from = s, worker = w }\n'
    assert Folder(text, image=option).manager()["containers"][0]["image"] == image


def test_the_program_is_in_the_order_of_the_flow() -> None:
    text = """workflow w
queue late { from = kept, worker = w }
filter kept { from = s, where = item.data.a == param.x && param.y }
param x = "a"
param y = true
param z = 3
source s: items { items = ["a"] }
worker w { image = "w:1", command = ["w"] }
queue filter { from = late.failed, worker = w }
"""
    assert (
        Folder(text, "it.wq").program()
        == '''"""The manager of the workflow w.

wqc made it from it.wq: edit that file, not this one.
"""

from wqc.runtime import Workflow

workflow = Workflow("w")
s = workflow.source("s")
kept = workflow.filter("kept", s, where="item.data.a == param.x && param.y", params={"x": "a", "y": True})
late = workflow.queue("late", kept)
filter_ = workflow.queue("filter", late.failed)

if __name__ == "__main__":
    workflow.run()
'''
    )


def test_when_a_source_is_told_that_an_item_is_done() -> None:
    broker = 'brokers = "mq:5672", ack = on_done'
    text = f'workflow w\nsource s: rabbitmq {{ queue = "q", {broker} }}\n'
    text += f'source t: rabbitmq {{ each = {{ a = "x", b = "y" }}, queue = each, {broker} }}\n'
    text += 'worker w { image = "w:1", command = ["w"] }\n'
    text += "queue q { from = s, worker = w }\nqueue r { from = t, worker = w }\n"
    program = Folder(text).program()
    assert 's = workflow.source("s", ack="on_done")' in program
    assert 't = workflow.bundle("t", members=("a", "b"), ack="on_done")' in program


def test_streams_are_written_as_the_run_time_names_them(everything: Folder) -> None:
    program = everything.program()
    assert '"small.failed": small.failed' in program
    assert 'fields=(("path", "string"), ("size", "int"))' in program
    assert 'class_ = workflow.queue("class", commits)' in program


@pytest.mark.parametrize("name", ["a\nb.wq", 'a"""b.wq', "<stdin>", "é.wq", "x" * 200 + ".wq"])
def test_a_file_of_an_odd_name_is_not_named(name: str) -> None:
    text = 'workflow w\nsource s: items { items = ["a"] }\n'
    text += 'worker w { image = "w:1", command = ["w"] }\nqueue q { from = s, worker = w }\n'
    assert "wqc made it from its .wq file: edit" in Folder(text, name).program()
