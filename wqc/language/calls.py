"""Values that are written as calls: volumes, secrets, places, networks."""

from collections.abc import Callable
from typing import Any

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import names, values
from wqc.diagnostics.suggestion import nearest
from wqc.language import syntax
from wqc.language.describe import type_words, value_words
from wqc.language.schema import FUNCTIONS
from wqc.language.scope import Scope
from wqc.language.typed import INVALID, Invalid, Place
from wqc.language.types import Attribute, CallOf, Function, Type
from wqc.language.values import Cidr, ConfigMap, Nodes, Pvc, Secret

Reader = Callable[[syntax.Value, Type, Scope, Place], Any]


def read_call(
    value: syntax.Call, type: CallOf, scope: Scope, place: Place, read: Reader, findings: list[Finding]
) -> Any:
    """What a call such as `pvc("media")` stands for, or INVALID; `read` types its arguments."""
    word = value.function.text
    if word not in type.functions:
        near = nearest(word, type.functions)
        hint = f"did you mean `{near}`?" if near else ""
        findings.append(
            values.wrong_type(place.span, place.name, type_words(type), value_words(value), place.param, hint)
        )
        return INVALID
    arguments = _arguments(value, FUNCTIONS[word], type.needs, scope, read, findings)
    if isinstance(arguments, Invalid):
        return arguments
    try:
        return _MAKERS[word](arguments)
    except NotANetworkError as error:
        span = value.arguments[0].span
        written = f'"{error}"'
        findings.append(values.malformed_text(span, "cidr(network)", written, "a network such as 10.0.0.0/8"))
        return INVALID


class NotANetworkError(Exception):
    """Its text is what was written."""


def _cidr(given: dict[str, Any]) -> Cidr:
    """The network in its one canonical form: Kubernetes warns of bits beyond the prefix."""
    from ipaddress import ip_network  # a few milliseconds that few files need

    try:
        return Cidr(str(ip_network(given["network"], strict=False)))
    except ValueError:
        raise NotANetworkError(given["network"]) from None


def _arguments(
    value: syntax.Call,
    function: Function,
    needs: tuple[str, ...],
    scope: Scope,
    read: Reader,
    findings: list[Finding],
) -> dict[str, Any] | Invalid:
    def typed_argument(value: syntax.Value, parameter: Attribute) -> Any:
        return read(value, parameter.type, scope, Place(f"{function.name}({parameter.name})", value.span))

    typed: dict[str, Any] = {}
    if len(value.arguments) > len(function.positional):
        extra = value.arguments[len(function.positional)]
        findings.append(
            values.wrong_type(
                extra.span, function.name, _argument_words(function), f"{len(value.arguments)} arguments"
            )
        )
        return INVALID
    for argument, parameter in zip(value.arguments, function.positional, strict=False):
        typed[parameter.name] = typed_argument(argument, parameter)
    known = {parameter.name: parameter for parameter in function.keywords}
    for entry in value.keywords:
        key = entry.key.text if isinstance(entry.key, syntax.Name) else entry.key.span.text
        if key not in known:
            findings.append(names.unknown_attribute(entry.key.span, f"`{function.name}`", key, list(known)))
            typed[key] = INVALID
        elif key in typed:
            findings.append(values.duplicate_key(entry.key.span, key, value.span))
            typed[key] = INVALID
        else:
            typed[key] = typed_argument(entry.value, known[key])
    for parameter in function.positional:
        needed = parameter.required or parameter.name in needs
        if needed and parameter.name not in typed:
            findings.append(
                values.missing_argument(value.span, _argument_words(function), parameter.name, parameter.doc)
            )
            return INVALID
    return INVALID if INVALID in typed.values() else typed


def _argument_words(function: Function) -> str:
    names = ", ".join(parameter.name for parameter in function.positional)
    return f"`{function.name}({names})`"


_MAKERS: dict[str, Callable[[dict[str, Any]], object]] = {
    "pvc": lambda given: Pvc(**given),
    "secret": lambda given: Secret(**given),
    "config_map": lambda given: ConfigMap(**given),
    "zone": lambda given: Nodes((("topology.kubernetes.io/zone", given["name"]),)),
    "nodes": lambda given: Nodes(tuple(given["labels"].items())),
    "cidr": _cidr,
}
