"""Params: their types, their defaults and the values that a build sets."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import params, values
from wqc.diagnostics.source import Source, Span
from wqc.language import measures, syntax
from wqc.language.coerce import Coercion
from wqc.language.describe import alternatives, value_words
from wqc.language.parser import parse_params, parse_value
from wqc.language.schema import PARAM_TYPES
from wqc.language.scope import EMPTY, Binding, Scope
from wqc.language.typed import Invalid


@dataclass(frozen=True, slots=True)
class Setting:
    """A value given from outside: a line of a `.wqp` file, or `--param name=text`, which has no `value`:
    the param's
    type reads its text."""

    name: str
    name_span: Span
    value: syntax.Value | None
    text: str
    span: Span


def file_settings(sources: Iterable[Source]) -> tuple[list[Setting], list[Finding]]:
    """The settings of `.wqp` files."""
    settings: list[Setting] = []
    findings: list[Finding] = []
    for source in sources:
        parsed = parse_params(source)
        findings += parsed.findings
        seen: dict[str, Span] = {}
        for entry in parsed.entries:
            name = entry.key.text if isinstance(entry.key, syntax.Name) else entry.key.span.text
            if name in seen:
                findings.append(values.duplicate_key(entry.key.span, name, seen[name]))
            seen.setdefault(name, entry.key.span)
            settings.append(
                Setting(name, entry.key.span, entry.value, entry.value.span.text, entry.value.span)
            )
    return settings, findings


def command_line_settings(pairs: Iterable[tuple[str, str]]) -> list[Setting]:
    """The settings of `--param name=text`."""
    settings = []
    for name, text in pairs:
        source = Source("--param", f"{name}={text}")
        after = len(name) + 1
        settings.append(
            Setting(name, Span(source, 0, len(name)), None, text, Span(source, after, after + len(text)))
        )
    return settings


def params_of(
    document: syntax.Document, settings: Mapping[str, Setting], prefix: str = ""
) -> tuple[Scope, dict[str, Setting], list[Finding]]:
    """The scope that a file's params make, the settings used for them, and what is wrong with either.

    `prefix` (`"lib."`) is how settings name the params of an imported file.
    """
    blocks = [
        (block, block.name)
        for block in document.statements
        if isinstance(block, syntax.Block) and block.kind.text == "param" and block.name is not None
    ]
    scope = Scope({}, below=frozenset(name.text for _, name in blocks))
    used, findings = dict[str, Setting](), list[Finding]()
    for block, name in blocks:
        setting = settings.get(prefix + name.text)
        if setting is not None:
            used[setting.name] = setting
        binding = _binding(block, name, setting, scope, findings)
        scope = scope.with_bindings({name.text: binding}) if binding else scope.without(name.text)
    return scope, used, findings


def _binding(
    block: syntax.Block, name: syntax.Name, setting: Setting | None, scope: Scope, findings: list[Finding]
) -> Binding | None:
    if block.value is None and block.base is None:
        findings.append(params.unset_param(name.span, name.text, ""))
        return None
    type_name = _type_name(block, name, scope, findings)
    if type_name is None:
        return None
    if setting is None:
        if block.value is None:
            findings.append(params.unset_param(name.span, name.text, type_name))
            return None
        binding = Binding(block.value, scope, block.value.span)
    else:
        value = _setting_value(setting, type_name, findings)
        if value is None:
            return None
        binding = Binding(value, EMPTY, setting.span)
    reader = Coercion()
    typed = reader.value(binding.value, PARAM_TYPES[type_name], binding.scope, name.text)
    findings += reader.findings
    return None if isinstance(typed, Invalid) else binding


def _setting_value(setting: Setting, type_name: str, findings: list[Finding]) -> syntax.Value | None:
    if setting.value is not None:
        return setting.value
    if type_name == "string":
        return syntax.String((setting.text,), setting.span)
    parsed = parse_value(setting.span)
    findings += parsed.findings
    return parsed.value


def _type_name(block: syntax.Block, name: syntax.Name, scope: Scope, findings: list[Finding]) -> str | None:
    if block.base is not None:
        if block.base.text in PARAM_TYPES:
            return block.base.text
        findings.append(params.unknown_param_type(block.base.span, block.base.text, list(PARAM_TYPES)))
        return None
    assert block.value is not None
    sides = (block.value.low, block.value.high) if isinstance(block.value, syntax.Range) else (block.value,)
    for side in sides:
        if isinstance(side, syntax.Path) and side.text in scope.below:
            findings.append(params.param_below(side.span, side.text))
            return None
        if isinstance(side, syntax.Path) and side.text in scope.unset:
            return None
    fitting = _fitting(block.value, scope)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        written = block.value.span.text
        findings.append(params.ambiguous_param(block.value.span, name.text, written, fitting))
    else:
        findings.append(
            values.wrong_type(
                block.value.span,
                name.text,
                f"a value of type {alternatives(list(PARAM_TYPES))}",
                value_words(block.value),
            )
        )
    return None


def _fitting(value: syntax.Value, scope: Scope) -> list[str]:
    """The types that a default may have."""
    match value:
        case syntax.String() | syntax.Script():
            return ["string"]
        case syntax.Constant(flag) if flag is not None:
            return ["boolean"]
        case syntax.Number(text):
            return ["number" if "." in text else "integer"]
        case syntax.Measure(text):
            readers = (("duration", measures.duration), ("cpu", measures.cpu), ("memory", measures.memory))
            return [type for type, read in readers if read(text) is not None]
        case syntax.Range(low, high):
            sides = [_fitting(low, scope), _fitting(high, scope)]
            if all("integer" in side for side in sides):
                return ["integer_range"]
            both = [
                type
                for type in ("cpu", "memory")
                if all(type in side or (type == "cpu" and _is_number(side)) for side in sides)
            ]
            return [f"{type}_range" for type in both]
        case syntax.Path(names=(name,)) if bound := scope.bindings.get(name.text):
            return _fitting(bound.value, bound.scope)
        case syntax.ListValue():
            return ["list"]
        case syntax.MapValue():
            return ["map"]
    return []


def _is_number(types: list[str]) -> bool:
    return bool({"integer", "number"} & set(types))
