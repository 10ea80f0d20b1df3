"""The files that a workflow imports, and theirs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import names
from wqc.diagnostics.source import Source
from wqc.language import syntax
from wqc.language.parser import parse

Reader = Callable[[Source, str], Source]


class Unreadable(Exception):
    """What a reader raises; its text says why, without the path."""


@dataclass(frozen=True, slots=True)
class Module:
    """A file and, by alias, the files that it imports."""

    document: syntax.Document
    imports: Mapping[str, "Module"]
    unread: frozenset[str] = frozenset()
    """The aliases of what couldn't be read, already reported."""

    def documents(self) -> Iterator[syntax.Document]:
        """Its own, then those of what it imports; one that is imported twice comes twice."""
        yield self.document
        for module in self.imports.values():
            yield from module.documents()


def load(source: Source, read: Reader) -> tuple[Module, list[Finding]]:
    """Parse a file and all that it imports; what can't be read becomes a finding."""
    findings: list[Finding] = []
    return _load(source, read, (source.name,), findings), findings


def _load(source: Source, read: Reader, chain: tuple[str, ...], findings: list[Finding]) -> Module:
    parsed = parse(source)
    findings += parsed.findings
    imports: dict[str, Module] = {}
    unread: set[str] = set()
    for statement in parsed.document.statements:
        if not isinstance(statement, syntax.Import):
            continue
        path = "".join(part for part in statement.path.parts if isinstance(part, str))
        try:
            text = read(source, path)
        except Unreadable as error:
            findings.append(names.unreadable_import(statement.path.span, path, str(error)))
            unread.add(statement.alias.text)
            continue
        if text.name in chain:
            cycle = (*chain[chain.index(text.name) :], text.name)
            findings.append(names.import_cycle(statement.path.span, cycle))
            unread.add(statement.alias.text)
            continue
        imports[statement.alias.text] = _load(text, read, (*chain, text.name), findings)
    return Module(parsed.document, imports, frozenset(unread))
