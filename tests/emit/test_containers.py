"""Environment, quantities, and what Kubernetes reads into a `$`."""

import pytest

from wqc.emit.objects.containers import Variable, environment, resources, verbatim
from wqc.language.values import ConfigMap, Cpu, Memory, Range, Secret

GI = 1 << 30


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("in=$(cat file)", "in=$(cat file)"),
        ("echo $HOME ${X}", "echo $HOME ${X}"),
        ("kill $$", "kill $$$$"),
        ("$(A)", "$$(A)"),
        ("$$(A)", "$$$$(A)"),
        ("$(B)", "$(B)"),
        ("$(echo $$)", "$(echo $$)"),
        ("$(KUBERNETES_SERVICE_HOST)", "$$(KUBERNETES_SERVICE_HOST)"),
        ("$", "$"),
        ("$(", "$("),
        ("$($$", "$($$$$"),
    ],
)
def test_kubernetes_hands_on_what_was_written(text: str, written: str) -> None:
    assert verbatim(text, ["A"]) == written


def test_each_variable_once_and_the_last_word_counts() -> None:
    made = environment({"A": "1", "B": Secret("s", "k")}, {"C": ConfigMap("c", "k"), "A": "2"})
    assert made == (
        Variable("A", "2"),
        Variable("B", holder="secret", object="s", key="k"),
        Variable("C", holder="config_map", object="c", key="k"),
    )


@pytest.mark.parametrize(
    ("cpu", "memory", "requests", "limits"),
    [
        (None, None, {}, {}),
        (Range(Cpu(1000), Cpu(1000)), None, {"cpu": "1"}, {}),
        (Range(Cpu(500), Cpu(2000)), None, {"cpu": "500m"}, {"cpu": "2"}),
        (None, Range(Memory(GI), Memory(GI)), {"memory": "1Gi"}, {"memory": "1Gi"}),
        (None, Range(Memory(GI), Memory(3 * GI)), {"memory": "1Gi"}, {"memory": "3Gi"}),
        (None, Range(Memory(1500), Memory(1500)), {"memory": "1500"}, {"memory": "1500"}),
    ],
)
def test_one_cpu_is_a_request_and_one_memory_is_both(
    cpu: Range[Cpu] | None, memory: Range[Memory] | None, requests: dict[str, str], limits: dict[str, str]
) -> None:
    made = resources(cpu, memory)
    assert (made.requests, made.limits) == (requests, limits)


def test_extended_resources_are_limits() -> None:
    assert resources(None, None, {"nvidia.com/gpu": 1}).limits == {"nvidia.com/gpu": "1"}
