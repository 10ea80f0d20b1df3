"""Raw fields of `pod` against Kubernetes' schema."""

import json

import pytest

from support.findings import advice, checked, places
from wqc.model import podspec

TEXT = """workflow w
source s: items {{ items = ["a"] }}
worker k {{
  image = "r/k:1"
  profile = privileged
  pod = {}
}}
queue q {{ from = s, worker = k }}
"""


def told(pod: str, **options: object) -> list[str]:
    return places(TEXT.format(pod), "WQ62", **options)


def test_versions_are_those_that_have_a_file() -> None:
    folder = podspec.Path(podspec.__file__).parent / "kubernetes"
    files = sorted(path.stem.removeprefix("podspec-") for path in folder.glob("podspec-*.json"))
    assert list(podspec.VERSIONS) == files
    for version in podspec.VERSIONS:
        assert podspec.pod_spec(version).version == version


def test_what_kubernetes_knows_passes() -> None:
    pod = """{
    nodeSelector = { "kubernetes.io/arch" = "arm64", disk = "ssd" }
    tolerations = [{ key = "gpu", operator = "Exists", effect = "NoSchedule", tolerationSeconds = 60 }]
    affinity = { nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution = {
      nodeSelectorTerms = [{ matchExpressions = [{ key = "gpu", operator = "In", values = ["a"] }] }] } } }
    volumes = [
      { name = "x", emptyDir = { sizeLimit = "1Gi" } }, { name = "y", emptyDir = { sizeLimit = 1000000 } }]
    containers = [
      { name = "worker", livenessProbe = { httpGet = { port = "http" } }, ports = [{ containerPort = 80 }] }]
    overhead = { cpu = "250m", memory = 0.5 }
    shareProcessNamespace = true
    hostAliases = []
    enableServiceLinks = null
  }"""
    assert told(pod) == []


@pytest.mark.parametrize(
    ("pod", "expected", "help"),
    [
        (
            '{ nodeSelectors = { a = "b" } }',
            "WQ620 6:11 a pod has no field `nodeSelectors` in Kubernetes 1.37 <nodeSelectors>",
            ["did you mean `nodeSelector`?"],
        ),
        (
            '{ containers = [{ name = "worker", securityContext = { runAsUsr = 1 } }] }',
            "WQ620 6:64 a pod has no field `containers[0].securityContext.runAsUsr` in Kubernetes 1.37 "
            "<runAsUsr>",
            ["did you mean `runAsUser`?"],
        ),
        ('{ priority = "high" }', 'WQ621 6:22 `priority` takes a whole number, not "high" <"high">', []),
        (
            '{ priority = "5" }',
            'WQ621 6:22 `priority` takes a whole number, not "5" <"5">',
            ["write it without quotes: 5"],
        ),
        ("{ priority = 1.5 }", "WQ621 6:22 `priority` takes a whole number, not the number 1.5 <1.5>", []),
        ("{ priority = true }", "WQ621 6:22 `priority` takes a whole number, not true <true>", []),
        (
            '{ hostNetwork = "true" }',
            'WQ621 6:25 `hostNetwork` takes `true` or `false`, not "true" <"true">',
            ["write it without quotes: true"],
        ),
        (
            "{ nodeSelector = { a = 1 } }",
            "WQ621 6:32 `nodeSelector.a` takes a string, not the number 1 <1>",
            ['put it in quotes: "1"'],
        ),
        ("{ nodeSelector = [] }", "WQ621 6:26 `nodeSelector` takes a map, not a list <[]>", []),
        ("{ tolerations = {} }", "WQ621 6:25 `tolerations` takes a list, not a map <{}>", []),
        ("{ tolerations = [null] }", "WQ621 6:26 `tolerations[0]` takes a map, not null <null>", []),
        (
            "{ volumes = null }",
            "WQ623 6:11 wqc sets `volumes` itself <volumes>",
            ["its entries can be added to, not taken away"],
        ),
        (
            '{ overhead = { cpu = "half" } }',
            'WQ621 6:30 `overhead.cpu` takes a quantity such as "500m" or "2Gi", not "half" <"half">',
            [],
        ),
        (
            '{ volumes = [{ name = "x" }, { emptyDir = {} }] }',
            "WQ622 6:38 `volumes[1]` needs `name` <{ emptyDir = {} }>",
            ["add `name = …`, a string"],
        ),
        (
            '{ restartPolicy = "OnFailure" }',
            "WQ623 6:11 wqc sets `restartPolicy` itself <restartPolicy>",
            ["one Job is one attempt at an item; `retries` of the queue says how many there are"],
        ),
    ],
)
def test_one_mistake(pod: str, expected: str, help: list[str]) -> None:
    assert told(pod) == [expected]
    assert advice(TEXT.format(pod), expected[:5]) == help


def test_every_mistake_is_told() -> None:
    assert [
        each[:5] for each in told('{ a = 1, priority = "b", nodeSelector = { c = 1 }, hostAliases = [{}] }')
    ] == [
        "WQ620",
        "WQ621",
        "WQ621",
        "WQ622",
    ]


def test_a_field_of_a_newer_version() -> None:
    new = {
        name: kind
        for name, kind in podspec.pod_spec("1.37").types["PodSpec"].fields.items()
        if name not in podspec.pod_spec("1.35").types["PodSpec"].fields
    }
    assert new, "the newest version has fields that the oldest has not"
    field = next(iter(new))
    value = "[]" if new[field].startswith("[") else "{}"
    pod = f"{{ {field} = {value} }}"
    assert told(pod) == []
    assert told(pod, kubernetes_version="1.35") == [
        f"WQ620 6:11 a pod has no field `{field}` in Kubernetes 1.35 <{field}>"
    ]
    (help,) = advice(TEXT.format(pod), "WQ620", kubernetes_version="1.35")
    assert help.startswith("Kubernetes 1.3")
    assert "--kubernetes-version" in help


def test_a_param_is_pointed_at_where_it_is_used() -> None:
    text = "param labels = { disk = 1 }\n" + TEXT.format("{ nodeSelector = labels }")
    assert places(text, "WQ62") == [
        "WQ621 7:26 `nodeSelector.disk` takes a string, not the number 1 <labels>"
    ]


def test_the_managers_pod_is_checked_too() -> None:
    text = TEXT.format("{}") + 'manager { pod = { priorty = 1, serviceAccountName = "root" } }\n'
    assert [each[:5] for each in places(text, "WQ62")] == ["WQ620", "WQ623"]


def test_every_type_of_the_schema_is_understood() -> None:
    """No field is of a type that the check takes for something else."""
    scalars = {"string", "integer", "number", "boolean", "quantity", "int-or-string", "any"}
    for version in podspec.VERSIONS:
        spec = podspec.pod_spec(version)
        for kind in spec.types.values():
            for field in kind.fields.values():
                inner = field.strip("[]{}")
                assert inner in scalars or inner in spec.types, json.dumps(field)
    assert checked(TEXT.format("{}")).workflow is not None
