"""From what the automaton has read to the parsed tree: a method per rule of the grammar."""

import re

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import characters, syntax
from wqc.diagnostics.source import Source, Span
from wqc.language.lexer import Token
from wqc.language.place import name_from
from wqc.language.strings import decimal, decoded, script_text
from wqc.language.syntax import (
    Block,
    Broken,
    Call,
    Constant,
    Entry,
    Expression,
    Import,
    ListValue,
    MapValue,
    Measure,
    Name,
    Number,
    Path,
    Range,
    Script,
    String,
    Value,
)

_CONSTANTS = {"true": True, "false": False, "null": None}
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_CEL_FUNCTIONS = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "has", "int", "matches", "size", "string", "timestamp"}
    | {"type", "uint"}
)
Head = tuple[Name, Name | None, tuple[Name, ...], Path | None, Span]


def _is_malformed_import(statement: Block | Import) -> bool:
    return isinstance(statement, Block) and statement.kind.text == "import" and statement.attributes is None


class Builder:
    """Each method takes the start and end offsets of what was read and the value of each of its symbols.

    `findings` is what is wrong wherever it stands, `plain` what is wrong unless it turns out to be part of a
    CEL expression, and `holes` the `${…}` that are wrong if it does. An expression with something broken in
    it is broken.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.findings: list[Finding] = []
        self.plain: list[Finding] = []
        self.holes: list[Name] = []
        self._broken = -1

    # --- lists ---

    def nothing(self, start: int, end: int) -> list[object]:
        return []

    def grown(self, start: int, end: int, items: list[object], item: object, _: Token) -> list[object]:
        items.append(item)
        return items

    def one(self, start: int, end: int, item: object) -> list[object]:
        return [item]

    def more(self, start: int, end: int, items: list[object], _: Token, item: object) -> list[object]:
        items.append(item)
        return items

    # --- files ---

    def document(self, start: int, end: int, statements: list[Block | Import]) -> tuple[Block | Import, ...]:
        return tuple(statement for statement in statements if not _is_malformed_import(statement))

    def params(self, start: int, end: int, entries: list[Entry]) -> tuple[Entry, ...]:
        return tuple(entries)

    def setting(self, start: int, end: int, path: list[Token], _: Token, value: Value) -> Entry:
        name = self._path(path)
        return Entry(Name(name.text, name.span), value, Span(self.source, start, end))

    def single(self, start: int, end: int, value: Value, _: Token) -> Value:
        return value

    # --- blocks ---

    def bare_block(self, start: int, end: int, head: Head) -> Block:
        kind, name, parameters, base, span = head
        if kind.text == "import":
            alias = name.text if name else "lib"
            self.findings.append(syntax.malformed_import(span, f'import "{alias}.wq" as {alias}'))
        return Block(kind, name, parameters, base, None, None, span, span)

    def block(self, start: int, end: int, head: Head, body: tuple[Entry, ...]) -> Block:
        kind, name, parameters, base, span = head
        return Block(kind, name, parameters, base, None, body, span, Span(self.source, start, end))

    def assigned_block(self, start: int, end: int, head: Head, _: Token, value: Value) -> Block:
        kind, name, parameters, base, span = head
        return Block(kind, name, parameters, base, value, None, span, Span(self.source, start, end))

    def unnamed_head(self, start: int, end: int, kind: Token) -> Head:
        return self._name(kind), None, (), None, Span(self.source, start, end)

    def kind_head(self, start: int, end: int, kind: Token, _: Token, path: list[Token]) -> Head:
        return self._name(kind), None, (), self._path(path), Span(self.source, start, end)

    def named_head(
        self,
        start: int,
        end: int,
        kind: Token,
        name: Token,
        parameters: tuple[Name, ...],
        base: Path | None,
    ) -> Head:
        return self._name(kind), self._declared(name), parameters, base, Span(self.source, start, end)

    def no_parameters(self, start: int, end: int) -> tuple[Name, ...]:
        return ()

    def empty_parameters(self, start: int, end: int, *_: Token) -> tuple[Name, ...]:
        return ()

    def parameters(self, start: int, end: int, _: Token, names: list[Token], *__: Token) -> tuple[Name, ...]:
        return tuple(self._declared(name) for name in names)

    def no_base(self, start: int, end: int) -> None:
        return None

    def base(self, start: int, end: int, _: Token, path: list[Token]) -> Path:
        return self._path(path)

    def body(self, start: int, end: int, _: Token, entries: list[Entry], __: Token) -> tuple[Entry, ...]:
        return tuple(entries)

    # --- entries ---

    def entry(self, start: int, end: int, key: Name | String, _: Token, value: Value) -> Entry:
        return Entry(key, value, Span(self.source, start, end))

    def keyword(self, start: int, end: int, key: Token, _: Token, value: Value) -> Entry:
        return Entry(self._name(key), value, Span(self.source, start, end))

    def name(self, start: int, end: int, name: Token) -> Name:
        return Name(self.text[start:end], Span(self.source, start, end))

    # --- values ---

    def string(self, start: int, end: int, _: Token) -> String:
        parts, mistakes = decoded(self.source, start, end)
        if mistakes:
            self.plain += mistakes
        if len(parts) > 1 or (parts and isinstance(parts[0], Name)):
            self.holes += [part for part in parts if isinstance(part, Name)]
        return String(parts, Span(self.source, start, end))

    def script(self, start: int, end: int, _: Token) -> Script:
        return Script(script_text(self.text[start + 3 : end - 3]), Span(self.source, start, end))

    def number(self, start: int, end: int, _: Token) -> Number:
        return Number(self.text[start:end], Span(self.source, start, end))

    def measure(self, start: int, end: int, _: Token) -> Measure:
        return Measure(self.text[start:end], Span(self.source, start, end))

    def negative(self, start: int, end: int, _: Token, operand: Value) -> Value:
        if isinstance(operand, Number | Measure) and not operand.text.startswith("-"):
            return type(operand)("-" + operand.text, Span(self.source, start, end))
        return Expression(Span(self.source, start, end))

    # --- operands ---

    def first_name(self, start: int, end: int, name: Token) -> list[Token]:
        return [name]

    def further_name(self, start: int, end: int, path: list[Token], _: Token, name: Token) -> list[Token]:
        path.append(name)
        return path

    def reference(self, start: int, end: int, path: list[Token]) -> Path | Constant:
        text = self.text[start:end]
        if text in _CONSTANTS:
            return Constant(_CONSTANTS[text], Span(self.source, start, end))
        return self._path(path)

    def call(
        self, start: int, end: int, path: list[Token], _: Token, arguments: object, *__: Token
    ) -> Call | Expression | Broken:
        if len(path) > 1 or self.text[path[0][1] : path[0][2]] in _CEL_FUNCTIONS:
            return self.expression(start, end)
        values: list[Value] = []
        keywords: list[Entry] = []
        for argument in arguments if isinstance(arguments, list) else ():
            if isinstance(argument, Entry):
                keywords.append(argument)
            else:
                values.append(argument)
        return Call(self._name(path[0]), tuple(values), tuple(keywords), Span(self.source, start, end))

    def list_value(self, start: int, end: int, _: Token, values: object, *__: Token) -> ListValue:
        return ListValue(tuple(values) if isinstance(values, list) else (), Span(self.source, start, end))

    def map_value(self, start: int, end: int, _: Token, entries: list[Entry], __: Token) -> MapValue:
        return MapValue(tuple(entries), Span(self.source, start, end))

    def range_value(self, start: int, end: int, low: Value, _: Token, high: Value) -> Range:
        return Range(low, high, Span(self.source, start, end))

    def expression(self, start: int, end: int, *_: object) -> Expression | Broken:
        self._is_cel(start)
        span = Span(self.source, start, end)
        return Broken(span) if self._broken >= start else Expression(span)

    def chain(self, start: int, end: int, *_: object) -> None:
        return None

    def operator(self, start: int, end: int, _: Token) -> None:
        return None

    def cel_string(self, start: int, end: int, _: Token) -> String:
        span = Span(self.source, start, end)
        inner = span.text.lstrip("rRbB").strip("'\"")
        self.plain.append(characters.single_quotes(span, f'"{inner}"'))
        return String((inner,), span)

    def cel_number(self, start: int, end: int, _: Token) -> Broken:
        span = Span(self.source, start, end)
        self.plain.append(characters.malformed_number(span, span.text, decimal(span.text)))
        return Broken(span)

    def colon_entry(self, start: int, end: int, key: Value, colon: Token, value: Value) -> Entry:
        _, begin, finish = colon
        written = key.span.text
        self.plain.append(syntax.colon_for_equals(Span(self.source, begin, finish), written))
        if not isinstance(key, String):
            key = String((), key.span) if not isinstance(key, Path) else key
        name = Name(written, key.span) if isinstance(key, Path) else key
        return Entry(name, value, Span(self.source, start, end))

    def broken(self, start: int, end: int, _: Token) -> Broken:
        self._broken = start
        return Broken(Span(self.source, start, end))

    def imported(self, start: int, end: int, word: Token, path: Token, by: Token, alias: Token) -> Import:
        span = Span(self.source, start, end)
        name = self._declared(alias)
        if self._name(word).text != "import" or self._name(by).text != "as":
            self.findings.append(
                syntax.malformed_import(span, f"import {self.text[path[1] : path[2]]} as {name.text}")
            )
        return Import(self.string(path[1], path[2], path), name, span)

    def _is_cel(self, start: int) -> None:
        """What was read since `start` is part of a CEL expression, with CEL's rules."""
        self.forget_plain(start)
        while self.holes and self.holes[-1].span.start >= start:
            hole = self.holes.pop()
            self.findings.append(characters.hole_in_condition(hole.span, hole.text))

    def forget_plain(self, start: int) -> None:
        """What was wrong unless it was CEL: it was, or something worse is wrong with it."""
        while self.plain and self.plain[-1].span.start >= start:
            self.plain.pop()

    def _declared(self, token: Token) -> Name:
        """A name that is declared here."""
        name = self._name(token)
        if not _NAME.fullmatch(name.text) and name.text.isascii():
            self.findings.append(characters.malformed_name(name.span, name.text, name_from(name.text)))
        return name

    def _path(self, path: list[Token]) -> Path:
        source, text = self.source, self.text
        names = tuple(Name(text[start:end], Span(source, start, end)) for _, start, end in path)
        return Path(names, Span(source, path[0][1], path[-1][2]))

    def _name(self, token: Token) -> Name:
        _, start, end = token
        return Name(self.text[start:end], Span(self.source, start, end))
