"""Pods against the Pod Security Standards."""

import re
from pathlib import Path

import pytest

from support.findings import advice, also, places
from wqc.checks.pod_security import _own_containers
from wqc.diagnostics.source import Source
from wqc.pipeline import Options, build

TEXT = """workflow w
source s: items {{ items = ["a"] }}
worker k {{
  image = "r/k:1"
  {}
}}
queue q {{ from = s, worker = k }}
"""

# What takes `baseline`, then what takes `privileged`: the fields of `pod`, and what is said of them.
BASELINE = [
    ("securityContext = { runAsNonRoot = false }", "`securityContext.runAsNonRoot` = false"),
    ("securityContext = { runAsUser = 0 }", "running as root"),
    ("securityContext = null", "a pod without `securityContext`"),
    ("securityContext = { seccompProfile = null }", "a pod without `securityContext.seccompProfile`"),
    ('volumes = [{ name = "n", nfs = { server = "s", path = "/" } }]', "a volume of kind nfs"),
    (
        'containers = [{ name = "worker", securityContext = { allowPrivilegeEscalation = true } }]',
        "`containers[0].securityContext.allowPrivilegeEscalation`",
    ),
    (
        'containers = [{ name = "worker", securityContext = { capabilities = { add = ["CHOWN"] } } }]',
        "the capability CHOWN",
    ),
    (
        'containers = [{ name = "worker", securityContext = { capabilities = { drop = ["KILL"] } } }]',
        "a container that may gain privileges",
    ),
    (
        'containers = [{ name = "m", image = "r/m:1", '
        'securityContext = { capabilities = { drop = ["ALL"] } } }]',
        "a container that may gain privileges",
    ),
    (
        'hostUsers = false, containers = [{ name = "worker", securityContext = { procMount = "Unmasked" } }]',
        "`containers[0].securityContext.procMount`",
    ),
]
PRIVILEGED = [
    ("hostNetwork = true", "`hostNetwork`"),
    ("hostPID = true", "`hostPID`"),
    ("hostIPC = true", "`hostIPC`"),
    ('volumes = [{ name = "h", hostPath = { path = "/" } }]', "a hostPath volume"),
    ('securityContext = { sysctls = [{ name = "kernel.msgmax", value = "1" }] }', "the sysctl kernel.msgmax"),
    (
        'securityContext = { seccompProfile = { type = "Unconfined" } }',
        "`securityContext.seccompProfile.type` = Unconfined",
    ),
    (
        'securityContext = { appArmorProfile = { type = "Unconfined" } }',
        "`securityContext.appArmorProfile.type` = Unconfined",
    ),
    ('securityContext = { seLinuxOptions = { type = "spc_t" } }', "`securityContext.seLinuxOptions.type`"),
    ('securityContext = { seLinuxOptions = { user = "u" } }', "`securityContext.seLinuxOptions.user`"),
    (
        "securityContext = { windowsOptions = { hostProcess = true } }",
        "`securityContext.windowsOptions.hostProcess`",
    ),
    (
        'containers = [{ name = "worker", securityContext = { privileged = true } }]',
        "`containers[0].securityContext.privileged`",
    ),
    (
        'containers = [{ name = "worker", securityContext = { capabilities = { add = ["NET_ADMIN"] } } }]',
        "the capability NET_ADMIN",
    ),
    (
        'containers = [{ name = "worker", ports = [{ containerPort = 80, hostPort = 80 }] }]',
        "a port of the host",
    ),
    (
        'containers = [{ name = "worker", livenessProbe = { httpGet = { port = 80, host = "h" } } }]',
        "`containers[0].livenessProbe.httpGet.host`",
    ),
    (
        (
            'containers = [{ name = "worker", lifecycle = { preStop = { httpGet = '
            '{ port = 80, host = "h" } } } }]'
        ),
        "`containers[0].lifecycle.preStop.httpGet.host`",
    ),
]
ALL = [(pod, what, "baseline") for pod, what in BASELINE] + [
    (pod, what, "privileged") for pod, what in PRIVILEGED
]

RESTRICTED = [
    "",
    'securityContext = { fsGroup = 5, seccompProfile = { type = "Localhost", localhostProfile = "p" } }',
    (
        'securityContext = { sysctls = [{ name = "net.ipv4.tcp_rmem", value = '
        '"1" }], seLinuxOptions = { type = "container_t" } }'
    ),
    'volumes = [{ name = "e", emptyDir = {} }, { name = "i", image = { reference = "r/i:1" } }]',
    'containers = [{ name = "worker", securityContext = { capabilities = { add = ["NET_BIND_SERVICE"] } } }]',
    (
        'containers = [{ name = "worker", ports = [{ containerPort = 80 }], '
        "livenessProbe = { httpGet = { port = 80 } } }]"
    ),
    (
        'initContainers = [{ name = "i", image = "r/i:1", securityContext = { '
        'allowPrivilegeEscalation = false, capabilities = { drop = ["ALL"] } } }]'
    ),
    "hostUsers = false, securityContext = { runAsUser = 0, runAsNonRoot = false }",
    "hostNetwork = false",
]


def told(attributes: str) -> list[str]:
    return [
        each for each in places(TEXT.format(attributes), "WQ70") if each[:5] in ("WQ703", "WQ704", "WQ705")
    ]


@pytest.mark.parametrize("pod", RESTRICTED)
def test_restricted(pod: str) -> None:
    assert told(f"pod = {{ {pod} }}") == []


@pytest.mark.parametrize(("pod", "what", "profile"), ALL, ids=lambda value: str(value)[:40])
def test_less_must_be_said(pod: str, what: str, profile: str) -> None:
    (found,) = told(f"pod = {{ {pod} }}")
    assert found.startswith("WQ703 5:")
    assert f" {what} is below the profile `restricted` <" in found
    (help,) = advice(TEXT.format(f"pod = {{ {pod} }}"), "WQ703")
    assert help.endswith(f", or allow it: `profile = {profile}` in worker `k`")


@pytest.mark.parametrize(("pod", "what", "profile"), ALL, ids=lambda value: str(value)[:40])
def test_what_is_said_is_a_warning(pod: str, what: str, profile: str) -> None:
    attributes = f"profile = {profile}\n  pod = {{ {pod} }}"
    assert told(attributes) == [f"WQ704 5:13 the pods of `k` are allowed the profile `{profile}` <{profile}>"]
    (label,) = also(TEXT.format(attributes), "WQ704")
    assert label.endswith(f": {what}")


@pytest.mark.parametrize(("pod", "what"), PRIVILEGED, ids=lambda value: str(value)[:40])
def test_baseline_is_not_enough(pod: str, what: str) -> None:
    found = told(f"profile = baseline\n  pod = {{ {pod} }}")
    assert [each[:5] for each in found] == ["WQ704", "WQ703"]
    assert f" {what} is below the profile `baseline` <" in found[1]


def test_root() -> None:
    assert told("user = 0") == ["WQ703 5:10 running as root is below the profile `restricted` <0>"]
    assert also(TEXT.format("user = 0, profile = baseline"), "WQ704") == ["0: running as root"]


def test_privileged_for_nothing() -> None:
    assert told("user = 0, profile = privileged") == [
        "WQ705 5:23 nothing in this block needs the profile `privileged` <privileged>"
    ]


def test_an_ambassador_is_in_the_managers_pod() -> None:
    text = (
        'workflow w\nsource s: container { image = "r/s:1", user = 0 }\nworker k { image = "r/k:1" }\n'
        "queue q { from = s, worker = k }\n"
    )
    assert places(text, "WQ703") == ["WQ703 2:47 running as root is below the profile `restricted` <0>"]
    assert advice(text, "WQ703") == ["name another user id, or allow it: `profile = baseline` in `manager`"]
    said = text + "manager { profile = baseline }\n"
    assert [each[:5] for each in places(said, "WQ70")] == ["WQ704"]
    assert also(said, "WQ704") == ["0: running as root"]


def test_newer_sysctls() -> None:
    pod = 'pod = { securityContext = { sysctls = [{ name = "net.ipv4.tcp_notsent_lowat", value = "1" }] } }'
    assert told(pod) == []
    assert len(places(TEXT.format(pod), "WQ703", kubernetes_version="1.36")) == 1


def test_writable_root_is_a_note() -> None:
    assert places(TEXT.format("writable_root = true"), "WQ707") == [
        "WQ707 5:19 the container of `k` may write to its own image's files <true>"
    ]
    assert places(TEXT.format("writable_root = false"), "WQ707") == []


def test_what_wqc_makes_is_known_by_name() -> None:
    """Of containers that are its own, `pod` says only what differs."""
    text = (Path(__file__).parent.parent / "emit" / "everything.wq").read_text(encoding="utf-8")
    built = build(Source("everything.wq", text), Options())
    workflow = built.checked.workflow
    assert workflow is not None
    own = set().union(*(_own_containers(worker, workflow) for worker in workflow.workers.values()))
    for name, content in built.files.items():
        containers = set(re.findall(r"^ *- name: (.*)\n *(?:#.*\n *)*image:", content, re.M))
        if name.startswith(("queue-", "batch-")):
            assert containers
            assert containers <= own, name


def test_a_step_of_a_pipeline() -> None:
    text = (
        'workflow w\nsource s: items { items = ["a"] }\nworker k { image = "r/k:1" }\n'
        'worker p { pipeline = [k, k], pod = { initContainers = [{ name = "%s", tty = true }] } }\n'
        "queue q { from = s, worker = p }\n"
    )
    assert places(text % "k", "WQ703") == []
    assert len(places(text % "other", "WQ703")) == 1
