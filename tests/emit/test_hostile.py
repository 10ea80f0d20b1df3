"""Whatever a file's strings hold, they are data in the output and change nothing around them."""

import ast
import io
import json
from collections.abc import Mapping
from typing import Any

import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from wqc.diagnostics.finding import Level
from wqc.diagnostics.source import Source
from wqc.pipeline import Options, build

# Block by block, but for the conditions all texts; what has a pattern (images, names, keys, labels) can hold nothing hostile.
# ruff: noqa: E501
WORKFLOW = """\
workflow hostile {{ namespace = "safe" }}
source films: files {{ path = {path}, match = {text}, volume = pvc("media", sub_path = {text}), arrives = 1m }}
source topic: kafka {{ brokers = "kafka:9092", topic = "t", group = {text}, username = {text}, auth = secret("s", "k"), arrives = 1m }}
source list: items {{ items = {{ {text} = {{ {text} = {text} }} }}, arrives = 1m }}
source own: container {{ image = "own:1", command = [{text}], env = {{ A = {text} }}, mounts = {{ {path} = secret("s", "k") }}, arrives = 1m }}
filter kept {{ from = topic, where = item.data.x == {cel} }}
splitter cases {{ from = films, cases = {{ a = item.name == {cel} }}, otherwise = drop }}
sharder shards {{ from = list, key = item.data[{cel}], shards = {{ a = nodes({{ zone = "z" }}), b = nodes({{ zone = "z" }}) }} }}
worker plain {{ image = "w:1", command = [{text}, "-c", {text}], env = {{ A = {text}, B = secret("s", "k"), C = config_map("c", "k") }}, input = stdin }}
worker shell {{ image = "w:1", run = {text}, pod = {{ priorityClassName = {text}, hostAliases = [{{ ip = {text}, hostnames = [{text}] }}] }} }}
queue one {{ from = kept, worker = plain, env = {{ A = {text} }} }}
queue two {{ from = cases.a, worker = shell, place = nodes({{ zone = "z" }}) }}
queue three {{ from = shards, worker = plain }}
queue four {{ from = own, worker = shell }}
carrier out: kafka {{ from = one, brokers = "kafka:9092", topic = "t", username = {text}, auth = secret("s", "k") }}
"""


def quoted(text: str) -> str:
    """A string of the language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("${", "$${")
    return '"' + "".join(char if " " <= char <= "~" else f"\\u{ord(char):04x}" for char in escaped) + '"'


def files(text: str) -> Mapping[str, str]:
    """The folder for a file whose strings are all `text`; discarded where the language refuses it."""
    path = "/" + text.replace("\0", "").replace(":", "").lstrip("/")
    cel = json.dumps(text)
    source = WORKFLOW.format(text=quoted(text), path=quoted(path), cel=cel)
    built = build(Source("hostile.wq", source), Options())
    errors = [finding for finding in built.checked.findings if finding.level is Level.ERROR]
    assume(not errors)
    return built.files


def shape(value: Any, text: str) -> Any:
    """The same without its texts, of keys only `text` itself."""
    match value:
        case dict():
            return {"*" if key == text else key: shape(inner, text) for key, inner in value.items()}
        case list():
            return [shape(inner, text) for inner in value]
        case str():
            return "text"
        case _:
            return value


def read(text: str) -> list[Any]:
    """All documents of a file, with those inside ConfigMaps; read by YAML 1.1 and 1.2 alike."""
    documents = list(yaml.load_all(text, Loader=yaml.SafeLoader))
    assert documents == list(YAML(typ="safe", pure=True).load_all(io.StringIO(text)))
    for document in documents:
        for key, inner in document.get("data", {}).items():
            if key.endswith(".yaml"):
                document["data"][key] = read(inner)
            elif key.endswith(".py"):
                document["data"][key] = ast.unparse(ast.parse(inner))
    return documents


BENIGN = "benign"
HOSTILE = st.text(min_size=1, max_size=20) | st.lists(
    st.sampled_from(
        [
            "\n",
            "- a",
            "a: b",
            "---",
            "'",
            '"',
            "\\",
            "{{",
            "}}",
            "{%",
            "#",
            " ",
            "\t",
            "|",
            "&a",
            "*a",
            "!!x",
            "$(A)",
            "$$",
            "~",
            "no",
            "1e3",
            "0777",
            "12:30",
            "é",
            "\u2028",
            "\x85",
            "'''",
            '"""',
        ]
    ),
    min_size=1,
    max_size=5,
).map("".join)


@settings(deadline=None, max_examples=20)
@given(HOSTILE)
@example("no")
@example("1e3")
@example("\nkind: Secret\n")
@example('"""\nimport os\n')
@example("{{ 7 * 7 }}{% raw %}")
@example("a\n---\nb: c")
@example("$(A)$$ $$(A) $(date)")
@example("\u2028\x85\ufeff")
def test_no_string_breaks_out(text: str) -> None:
    expected, built = files(BENIGN), files(text)
    assert list(built) == list(expected)
    for name in built:
        if not name.endswith(".yaml"):
            continue
        ours, theirs = read(built[name]), read(expected[name])
        for document in (*ours, *theirs):
            document.get("data", {}).pop("manager.py", None)  # another test's
        assert shape(ours, text) == shape(theirs, BENIGN), name


@settings(deadline=None, max_examples=20)
@given(HOSTILE)
@example("$(A)$$ $$(A) $(date)")
def test_every_string_arrives(text: str) -> None:
    """In the settings as it is; in a container as Kubernetes will hand it on."""
    built = files(text)
    settings_of = read(built["source-list.yaml"])[0]["data"]["source.yaml"][0]
    assert settings_of["options"]["items"] == {text: {text: text}}
    job = read(built["queue-one.yaml"])[0]["data"]["job.yaml"][0]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    known = {name: value for name, value in variables.items() if value is not None}
    assert expanded(variables["A"], {}) == text
    assert [expanded(part, known) for part in container["command"]][4:] == []
    assert [expanded(part, known) for part in container["args"]] == [text, "-c", text]


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """Kubernetes' expansion (third_party/forked/golang/expansion), written anew from its description.

    `$$` is `$`; `$(NAME)` is the variable's value, or stays if there is none.
    """
    result, at = "", 0
    while at < len(text):
        if text.startswith("$$", at):
            result, at = result + "$", at + 2
        elif text.startswith("$(", at) and (end := text.find(")", at)) > 0:
            name = text[at + 2 : end]
            result += variables.get(name, text[at : end + 1])
            at = end + 1
        else:
            result, at = result + text[at], at + 1
    return result


@settings(deadline=None, max_examples=20)
@given(HOSTILE)
def test_the_program_holds_every_condition_as_a_string(text: str) -> None:
    built = files(text)
    (config_map, _) = yaml.safe_load_all(built["manager.yaml"])
    program = ast.parse(config_map["data"]["manager.py"])
    constants = [node.value for node in ast.walk(program) if isinstance(node, ast.Constant)]
    assert f"item.data.x == {json.dumps(text)}" in constants
    calls = [node for node in ast.walk(program) if isinstance(node, ast.Call)]
    assert {ast.unparse(call.func) for call in calls} == {
        "Workflow",
        *(
            f"workflow.{method}"
            for method in ("source", "filter", "splitter", "sharder", "queue", "carrier", "run")
        ),
    }
