"""How a manager ends that can't go on: a line for each cause, for people, and no traceback."""

import json

import pytest

from wqc.runtime.incluster import ended_by
from wqc.runtime.logs import LOGGER, log_as_json
from wqc.runtime.sources.source import SourceError
from wqc.runtime.stores.kubernetes.lease import LeaseLost


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (ValueError("job.yaml: no"), 2, ["job.yaml: no"]),
        (LeaseLost("somebody else has it"), 1, ["somebody else has it"]),
        (
            ExceptionGroup("a", [LookupError("x"), ExceptionGroup("b", [SourceError("y"), ValueError("z")])]),
            2,
            ["x", "y", "z"],
        ),
        (ExceptionGroup("a", [ValueError("x"), LeaseLost("lost")]), 1, ["x", "lost"]),
    ],
)
def test_each_cause_is_a_line(
    error: Exception,
    code: int,
    told: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(LOGGER, "propagate", False)
    monkeypatch.setattr(LOGGER, "level", LOGGER.level)
    monkeypatch.setattr(LOGGER, "handlers", [])
    log_as_json()
    assert ended_by(error, "films") == code
    said = capsys.readouterr()
    lines = [json.loads(line) for line in (said.out + said.err).splitlines()]
    assert [(line["text"], line["workflow"]) for line in lines] == [(each, "films") for each in told]


def test_a_mistake_of_ours_is_not_passed_off_as_theirs() -> None:
    error = ExceptionGroup("a", [ValueError("x"), AssertionError("y")])
    with pytest.raises(ExceptionGroup) as raised:
        ended_by(error, "films")
    assert raised.value is error
