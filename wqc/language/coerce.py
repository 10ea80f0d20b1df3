"""From values as written to typed ones: an attribute's type reads its value, units included."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeVar

from wqc.contract.limits import LONGEST_SECONDS
from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import names, params, values
from wqc.diagnostics.source import Span
from wqc.diagnostics.suggestion import nearest
from wqc.language import measures, syntax
from wqc.language.calls import read_call
from wqc.language.describe import type_words, value_words
from wqc.language.hints import form_hint
from wqc.language.schema import NAME
from wqc.language.scope import Scope
from wqc.language.strings import uncommented
from wqc.language.typed import INVALID, Invalid, Place
from wqc.language.types import (
    CallOf,
    Cel,
    CpuType,
    Data,
    DurationType,
    Flag,
    Fraction,
    Integer,
    ListOf,
    MapOf,
    MemoryType,
    OneOf,
    RangeOf,
    ReferenceTo,
    ScriptText,
    Struct,
    Text,
    Type,
    Word,
)
from wqc.language.values import Condition, Range, Raw, Reference

Measured = TypeVar("Measured")

TEXT_LIMIT = 1 << 20
"""Characters of one string: no ConfigMap holds more. A few params that are made of each other reach it."""

PARTS_LIMIT = 200_000
"""Values within the attributes of one block; those of a list or map count one by one."""


class Coercion:
    """Types values in one scope after the other, and collects what it finds."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self._parts = 0
        self._texts: dict[int, str | Invalid] = {}

    def value(self, value: syntax.Value, type: Type, scope: Scope, name: str) -> Any:
        """The typed value of an attribute `name`, or INVALID; `wqc.language.values` has what each type
        becomes.
        """
        found, parts = len(self.findings), self._parts
        typed = self._typed(value, type, scope, Place(name, value.span))
        if parts < PARTS_LIMIT <= self._parts:
            del self.findings[found:]
            self.findings.append(values.value_too_large(value.span, PARTS_LIMIT, "parts"))
        return typed

    def text(self, string: syntax.String, scope: Scope) -> str | Invalid:
        """A string with its params put in."""
        parts: list[str] = []
        for part in string.parts:
            read = part if isinstance(part, str) else self._interpolated(part, scope)
            if isinstance(read, Invalid):
                return INVALID
            parts.append(read)
        if sum(map(len, parts)) > TEXT_LIMIT:
            self.findings.append(values.value_too_large(string.span, TEXT_LIMIT, "characters"))
            return INVALID
        text = "".join(parts)
        if "\0" in text:
            self.findings.append(values.null_character(string.span))
            return INVALID
        return text

    def _interpolated(self, name: syntax.Name, scope: Scope) -> str | Invalid:
        bound = scope.bindings.get(name.text)
        if bound is None:
            if name.text in scope.below:
                self.findings.append(params.param_below(name.span, name.text))
            elif not scope.knows(name.text):
                self.findings.append(params.unknown_param(name.span, name.text, sorted(scope.bindings)))
            return INVALID
        match bound.value:
            case syntax.String():
                # Once each: params that are made of params may double with every one.
                if id(bound) not in self._texts:
                    self._texts[id(bound)] = self.text(bound.value, bound.scope)
                return self._texts[id(bound)]
            case syntax.Number() | syntax.Measure():
                return bound.value.text
            case syntax.Constant():
                return bound.value.span.text
            case syntax.Path(names=(syntax.Name() as inner,)) if bound.scope.knows(inner.text):
                return self._interpolated(inner, bound.scope)
        self.findings.append(
            values.wrong_type(name.span, name.text, "a string", value_words(bound.value), bound.declared)
        )
        return INVALID

    def _typed(self, value: syntax.Value, type: Type, scope: Scope, place: Place) -> Any:
        self._parts += 1
        if isinstance(value, syntax.Broken) or self._parts >= PARTS_LIMIT:
            return INVALID
        if isinstance(value, syntax.Path) and len(value.names) == 1 and not isinstance(type, Cel):
            word = value.names[0].text
            if not (isinstance(type, Word) and word in type.options):
                if word in scope.unset:
                    return INVALID
                if word in scope.below:
                    self.findings.append(params.param_below(value.span, word))
                    return INVALID
                if bound := scope.bindings.get(word):
                    through = Place(place.name, place.span, bound.declared)
                    return self._typed(bound.value, type, bound.scope, through)
                if word == "each":
                    self.findings.append(names.each_without_bundle(value.span))
                    return INVALID
        if isinstance(type, OneOf):
            for choice in type.choices:
                if self._has_form(value, choice, scope):
                    return self._typed(value, choice, scope, place)
            return self._wrong(value, type, scope, place)
        if not self._has_form(value, type, scope):
            return self._wrong(value, type, scope, place)
        return _READERS[type.__class__](self, value, type, scope, place)

    def _has_form(self, value: syntax.Value, type: Type, scope: Scope) -> bool:
        """Whether the value's form, not yet its content, is that of the type."""
        if isinstance(type, Cel):
            return True
        if isinstance(value, syntax.Path) and len(value.names) == 1:
            bound = scope.bindings.get(value.names[0].text)
            if bound is not None:
                return self._has_form(bound.value, type, bound.scope)
        if isinstance(type, OneOf):
            return any(self._has_form(value, choice, scope) for choice in type.choices)
        if isinstance(type, RangeOf) and not isinstance(value, syntax.Range):
            return self._has_form(value, type.inner, scope)
        if not isinstance(value, _FORMS[type.__class__]):
            return False
        if isinstance(type, Integer) and isinstance(value, syntax.Number):
            return "." not in value.text
        if isinstance(type, Flag) and isinstance(value, syntax.Constant):
            return value.value is not None
        return True

    def _wrong(self, value: syntax.Value, type: Type, scope: Scope, place: Place) -> Invalid:
        hint = form_hint(value, type, list(scope.bindings))
        self.findings.append(
            values.wrong_type(place.span, place.name, type_words(type), value_words(value), place.param, hint)
        )
        return INVALID

    def _string(self, value: syntax.String, type: Text, scope: Scope, place: Place) -> Any:
        text = self.text(value, scope)
        if isinstance(text, str) and type.pattern and not re.fullmatch(type.pattern, text):
            written = f'"{text}"' if text else "an empty string"
            self.findings.append(
                values.malformed_text(place.span, place.name, written, type.what, place.param)
            )
            return INVALID
        return text

    def _script(
        self, value: syntax.Script | syntax.String, type: ScriptText, scope: Scope, place: Place
    ) -> Any:
        return value.text if isinstance(value, syntax.Script) else self.text(value, scope)

    def _integer(self, value: syntax.Number, type: Integer, scope: Scope, place: Place) -> Any:
        return self._bounded(int(value.text), type.low, type.high, value.text, place)

    def _fraction(self, value: syntax.Number, type: Fraction, scope: Scope, place: Place) -> Any:
        return self._bounded(float(value.text), type.low, type.high, value.text, place)

    def _bounded(self, number: Any, low: Any, high: Any, written: str, place: Place) -> Any:
        if low <= number <= high:
            return number
        bounds = f"at least {low:g}" if high >= 2**31 - 1 else f"from {low:g} to {high:g}"
        self.findings.append(values.out_of_bounds(place.span, place.name, written, bounds, place.param))
        return INVALID

    def _flag(self, value: syntax.Constant, type: Flag, scope: Scope, place: Place) -> Any:
        return value.value

    def _duration(self, value: syntax.Measure | syntax.Number, type: Type, scope: Scope, place: Place) -> Any:
        typed = self._measure(value.text, measures.duration, measures.suggest_duration, type, place)
        if isinstance(typed, Invalid) or 0 < typed.microseconds <= LONGEST_SECONDS * 1_000_000:
            return typed
        bounds = f"at most {LONGEST_SECONDS}s (68 years)" if typed.microseconds else "longer than nothing"
        self.findings.append(values.out_of_bounds(place.span, place.name, value.text, bounds, place.param))
        return INVALID

    def _cpu(self, value: syntax.Measure | syntax.Number, type: Type, scope: Scope, place: Place) -> Any:
        return self._measure(value.text, measures.cpu, measures.suggest_cpu, type, place)

    def _memory(self, value: syntax.Measure | syntax.Number, type: Type, scope: Scope, place: Place) -> Any:
        return self._measure(value.text, measures.memory, measures.suggest_memory, type, place)

    def _measure(
        self,
        text: str,
        read: Callable[[str], Measured | None],
        suggest: Callable[[str], str],
        type: Type,
        place: Place,
    ) -> Measured | Invalid:
        typed = read(text)
        if typed is not None:
            return typed
        self.findings.append(
            values.wrong_unit(place.span, place.name, type_words(type), text, suggest(text), place.param)
        )
        return INVALID

    def _range(self, value: syntax.Value, type: RangeOf, scope: Scope, place: Place) -> Any:
        if not isinstance(value, syntax.Range):
            single = self._typed(value, type.inner, scope, place)
            return single if isinstance(single, Invalid) else Range(single, single)
        low = self._typed(value.low, type.inner, scope, Place(place.name, value.low.span, place.param))
        high = self._typed(value.high, type.inner, scope, Place(place.name, value.high.span, place.param))
        if isinstance(low, Invalid) or isinstance(high, Invalid):
            return INVALID
        if high < low:
            self.findings.append(values.empty_range(place.span, place.name, str(low), str(high), place.param))
            return INVALID
        return Range(low, high)

    def _word(self, value: syntax.Path, type: Word, scope: Scope, place: Place) -> Any:
        return value.text if value.text in type.options else self._wrong(value, type, scope, place)

    def _reference(self, value: syntax.Path, type: ReferenceTo, scope: Scope, place: Place) -> Any:
        return Reference(tuple(name.text for name in value.names), value.span)

    def _list(self, value: syntax.ListValue, type: ListOf, scope: Scope, place: Place) -> Any:
        items = [
            self._typed(item, type.inner, scope, Place(place.name, item.span, place.param))
            for item in value.items
        ]
        if self._too_few(value, len(items), type.least, "list", place):
            return INVALID
        if type.distinct:
            self._refuse_repeated(value, items)
        return INVALID if INVALID in items else tuple(items)

    def _refuse_repeated(self, value: syntax.ListValue, items: list[Any]) -> None:
        first: dict[Any, Span] = {}
        for item, written in zip(items, value.items, strict=True):
            if item is not INVALID and item in first:
                self.findings.append(values.duplicate_key(written.span, written.span.text, first[item]))
            first.setdefault(item, written.span)

    def _too_few(
        self, value: syntax.ListValue | syntax.MapValue, entries: int, least: int, what: str, place: Place
    ) -> bool:
        if entries >= least:
            return False
        bounds = f"a {what} of at least " + ("one entry" if least == 1 else f"{least} entries")
        self.findings.append(
            values.out_of_bounds(place.span, place.name, value.span.text, bounds, place.param)
        )
        return True

    def _map(self, value: syntax.MapValue, type: MapOf, scope: Scope, place: Place) -> Any:
        typed: dict[str, Any] = {}
        valid = True
        pattern, what = type.keys or NAME, type.what or "a name: lower-case letters, digits and single `_`"
        for entry, key in self._keys(value, scope):
            if isinstance(key, Invalid):
                valid = False
                continue
            if not re.fullmatch(pattern, key):
                self.findings.append(values.malformed_key(entry.key.span, place.name, key, what, place.param))
                valid = False
            inner = Place(f"{place.name}.{key}", entry.value.span, place.param)
            typed[key] = self._typed(entry.value, type.inner, scope, inner)
        if self._too_few(value, len(value.entries), type.least, "map", place):
            return INVALID
        valid = valid and INVALID not in typed.values()
        return typed if valid else INVALID

    def _struct(self, value: syntax.MapValue, type: Struct, scope: Scope, place: Place) -> Any:
        known = {field.name: field for field in type.fields}
        typed: dict[str, Any] = {}
        entries = self._keys(value, scope)
        given = {key for _, key in entries}
        for entry, key in entries:
            if isinstance(key, Invalid):
                return INVALID
            if key not in known:
                free = [name for name in known if name not in given and name not in typed]
                self.findings.append(names.unknown_attribute(entry.key.span, f"`{place.name}`", key, free))
                typed[nearest(key, free) or key] = INVALID
                continue
            inner = Place(f"{place.name}.{key}", entry.value.span, place.param)
            typed[key] = self._typed(entry.value, known[key].type, scope, inner)
        for field in type.fields:
            if field.required and field.name not in typed:
                self.findings.append(
                    names.missing_attribute(value.span, f"`{place.name}`", field.name, field.doc)
                )
                return INVALID
        return INVALID if INVALID in typed.values() else typed

    def _keys(self, value: syntax.MapValue, scope: Scope) -> list[tuple[syntax.Entry, str | Invalid]]:
        seen: dict[str, Span] = {}
        keys: list[tuple[syntax.Entry, str | Invalid]] = []
        for entry in value.entries:
            key = entry.key.text if isinstance(entry.key, syntax.Name) else self.text(entry.key, scope)
            if isinstance(key, str):
                if key in seen:
                    self.findings.append(values.duplicate_key(entry.key.span, key, seen[key]))
                    key = INVALID
                else:
                    seen[key] = entry.key.span
            keys.append((entry, key))
        return keys

    def _condition(self, value: syntax.Value, type: Cel, scope: Scope, place: Place) -> Any:
        return Condition(uncommented(value.span.text), value.span)

    def _data(self, value: syntax.Value, type: Data, scope: Scope, place: Place) -> Raw | Invalid:
        match value:
            case syntax.String():
                return self.text(value, scope)
            case syntax.Script(text):
                return text
            case syntax.Number(text):
                return Decimal(text) if "." in text else int(text)
            case syntax.Constant(constant):
                return constant
            case syntax.ListValue(items):
                typed = [
                    self._typed(item, type, scope, Place(place.name, item.span, place.param))
                    for item in items
                ]
                return INVALID if INVALID in typed else typed
            case syntax.MapValue():
                read = self._map(value, MapOf(type, r"(?s).*"), scope, place)
                return read if isinstance(read, Invalid) else dict(read)
        return self._wrong(value, type, scope, place)

    def _call(self, value: syntax.Call, type: CallOf, scope: Scope, place: Place) -> Any:
        return read_call(value, type, scope, place, self._typed, self.findings)


_FORMS: dict[type, tuple[type, ...]] = {
    Text: (syntax.String,),
    ScriptText: (syntax.String, syntax.Script),
    Integer: (syntax.Number,),
    Fraction: (syntax.Number,),
    Flag: (syntax.Constant,),
    DurationType: (syntax.Number, syntax.Measure),
    CpuType: (syntax.Number, syntax.Measure),
    MemoryType: (syntax.Number, syntax.Measure),
    RangeOf: (syntax.Range,),
    Word: (syntax.Path,),
    ReferenceTo: (syntax.Path,),
    CallOf: (syntax.Call,),
    ListOf: (syntax.ListValue,),
    MapOf: (syntax.MapValue,),
    Struct: (syntax.MapValue,),
    Data: (
        syntax.String,
        syntax.Script,
        syntax.Number,
        syntax.Constant,
        syntax.ListValue,
        syntax.MapValue,
    ),
}

_READERS: dict[type, Callable[..., Any]] = {
    Text: Coercion._string,
    ScriptText: Coercion._script,
    Integer: Coercion._integer,
    Fraction: Coercion._fraction,
    Flag: Coercion._flag,
    DurationType: Coercion._duration,
    CpuType: Coercion._cpu,
    MemoryType: Coercion._memory,
    RangeOf: Coercion._range,
    Word: Coercion._word,
    ReferenceTo: Coercion._reference,
    CallOf: Coercion._call,
    ListOf: Coercion._list,
    MapOf: Coercion._map,
    Struct: Coercion._struct,
    Cel: Coercion._condition,
    Data: Coercion._data,
}
