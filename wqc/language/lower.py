"""From the parsed tree to typed declarations, by the schema table."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import names, params, values
from wqc.diagnostics.source import Span
from wqc.diagnostics.suggestion import nearest
from wqc.language import syntax
from wqc.language.coerce import Coercion
from wqc.language.declaration import Declaration, Given
from wqc.language.imports import Module
from wqc.language.params import Setting, params_of
from wqc.language.schema import BLOCKS, RESERVED, WORKER
from wqc.language.scope import Binding, Scope
from wqc.language.typed import INVALID
from wqc.language.types import BlockType
from wqc.language.workers import Attributes, WorkerFile, expand

_STATEMENTS = ("param", "import")


@dataclass(frozen=True, slots=True)
class Program:
    """Everything that the workflow's file declares, in the order written, and the workers of its libraries.

    `library_workers` are keyed as they are written (`lib.fetch`). `scope` is the file's params as they were
    bound. `broken` are the names of what couldn't be understood and was reported, blocks and imports, so that
    what refers to them isn't reported as well.
    """

    declarations: tuple[Declaration, ...]
    library_workers: Mapping[str, Declaration]
    scope: Scope
    broken: frozenset[str]


def lower(module: Module, settings: Iterable[Setting]) -> tuple[Program, list[Finding]]:
    """Type every block of a file, under its params."""
    lowering = _Lowering({setting.name: setting for setting in settings})
    file = lowering.file(module, "")
    declarations = lowering.declarations(module.document, file)
    libraries = {
        f"{alias}.{name}": declaration
        for alias, imported in module.imports.items()
        for name, declaration in lowering.library(imported, file.imports[alias]).items()
    }
    lowering.report_unused_settings(module)
    program = Program(declarations, libraries, file.scope, _broken(module, declarations))
    return program, lowering.findings


class _Lowering:
    def __init__(self, settings: Mapping[str, Setting]) -> None:
        self.findings: list[Finding] = []
        self._settings = settings
        self._used: set[str] = set()
        self._params: list[str] = []

    def file(self, module: Module, prefix: str) -> WorkerFile:
        scope, used, findings = params_of(module.document, self._settings, prefix)
        self._used |= used.keys()
        self._params += [prefix + name for name in scope.bindings]
        self._params += [prefix + name for name in sorted(scope.unset)]
        self.findings += findings
        workers = {
            block.name.text: block
            for block in _blocks(module.document)
            if block.kind.text == "worker" and block.name is not None
        }
        imports = {
            alias: self.file(imported, f"{prefix}{alias}.") for alias, imported in module.imports.items()
        }
        return WorkerFile(workers, scope, imports, module.unread)

    def report_unused_settings(self, module: Module) -> None:
        for name, setting in self._settings.items():
            if name not in self._used:
                self.findings.append(params.unknown_param(setting.name_span, name, self._params))

    def library(self, module: Module, file: WorkerFile) -> dict[str, Declaration]:
        for block in _blocks(module.document):
            if block.kind.text not in ("worker", *_STATEMENTS):
                self.findings.append(names.library_block(block.kind.span, block.kind.text))
        self._names(module.document)
        declared = (
            self._worker(block, file) for block in _blocks(module.document) if block.kind.text == "worker"
        )
        return {declaration.name: declaration for declaration in declared if declaration is not None}

    def declarations(self, document: syntax.Document, file: WorkerFile) -> tuple[Declaration, ...]:
        self._names(document)
        declared: list[Declaration] = []
        singles: dict[str, Span] = {}
        for block in _blocks(document):
            word = block.kind.text
            if word in _STATEMENTS:
                continue
            if word not in BLOCKS:
                self.findings.append(names.unknown_block(block.kind.span, word, [*BLOCKS, *_STATEMENTS]))
                continue
            if word == "workflow" or not BLOCKS[word].named:
                if word in singles:
                    self.findings.append(names.second_block(block.head, word, singles[word]))
                    continue
                singles[word] = block.head
            declaration = self._worker(block, file) if word == "worker" else self._block(block, file.scope)
            if declaration is not None:
                declared.append(declaration)
        return tuple(declared)

    def _names(self, document: syntax.Document) -> None:
        """Everything that a file declares shares one set of names; the workflow's own name stands apart."""
        seen: dict[str, Span] = {}
        for statement in document.statements:
            name = statement.alias if isinstance(statement, syntax.Import) else statement.name
            if name is None or (isinstance(statement, syntax.Block) and statement.kind.text == "workflow"):
                continue
            if name.text in RESERVED:
                self.findings.append(names.reserved_name(name.span, name.text))
            if name.text in seen:
                self.findings.append(names.duplicate_name(name.span, name.text, seen[name.text]))
            else:
                seen[name.text] = name.span

    def _worker(self, block: syntax.Block, file: WorkerFile) -> Declaration | None:
        if not self._head(block, WORKER) or block.name is None:
            return None
        parameters = tuple(parameter.text for parameter in block.parameters)
        if parameters:
            # A generic worker is typed once its parameters have values.
            return Declaration(
                "worker", "", block.name.text, WORKER, {}, block.name.span, block.head, {}, parameters
            )
        self._duplicate_keys(block)
        attributes = expand(block, file, self.findings)
        typed = {"image": Given(INVALID, block.head, block.head, syntax.Broken(block.head))}
        if attributes is not None:
            typed = self._typed(attributes, WORKER, "worker")
        return Declaration("worker", "", block.name.text, WORKER, typed, block.name.span, block.head)

    def _block(self, block: syntax.Block, scope: Scope) -> Declaration | None:
        block_type = BLOCKS[block.kind.text]
        if not self._head(block, block_type):
            return None
        title, kind, row = block_type.name, "", block_type
        if block_type.kinds:
            kinds = {kind.name: kind for kind in block_type.kinds}
            if block.base is None:
                name = block.name.text if block.name else "NAME"
                self.findings.append(names.missing_kind(block.head, title, name, list(kinds)))
                return None
            kind = block.base.text
            if kind not in kinds:
                self.findings.append(names.unknown_kind(block.base.span, title, kind, list(kinds)))
                return None
            row, title = kinds[kind], f"{title} of kind {kind}"
        self._duplicate_keys(block)
        entries: Attributes = {_key(entry): (entry, scope) for entry in block.attributes or ()}
        name = block.name.text if block.name else ""
        name_span = block.name.span if block.name else block.kind.span
        if "each" in entries and any(attribute.name == "each" for attribute in row.attributes):
            attributes, members = self._members(entries, row, title, scope)
        else:
            attributes, members = self._typed(entries, row, title), {}
            self._missing(attributes, row, title, block.head)
        outer = BlockType(
            block_type.name, row.doc, row.attributes, block_type.named, (), block_type.outputs, row.fields
        )
        return Declaration(block_type.name, kind, name, outer, attributes, name_span, block.head, members)

    def _members(
        self, entries: Attributes, row: BlockType, title: str, scope: Scope
    ) -> tuple[dict[str, Given], dict[str, dict[str, Given]]]:
        """A source with `each`: every attribute that mentions it once per member, the others once."""
        each, _ = entries["each"]
        attributes = self._typed({"each": entries["each"]}, row, title)
        members: dict[str, dict[str, Given]] = {}
        if not isinstance(each.value, syntax.MapValue):
            return attributes, members
        rest = {name: given for name, given in entries.items() if name != "each"}
        found: list[Finding] = []
        for entry in each.value.entries:
            bound = scope.with_bindings({"each": Binding(entry.value, scope, entry.key.span)})
            before = len(self.findings)
            typed = self._typed({name: (given, bound) for name, (given, _) in rest.items()}, row, title)
            self._missing(typed | attributes, row, title, each.span)
            found += self.findings[before:]
            del self.findings[before:]
            members[_key(entry)] = typed
        # What is wrong with a shared attribute is the same for each member: say it once.
        self.findings += dict.fromkeys(found)
        return attributes, members

    def _typed(self, entries: Attributes, row: BlockType, title: str) -> dict[str, Given]:
        known = {attribute.name: attribute for attribute in row.attributes}
        reader = Coercion()
        typed: dict[str, Given] = {}
        for name, (entry, scope) in entries.items():
            if name in known:
                value = reader.value(entry.value, known[name].type, scope, name)
                typed[name] = Given(value, entry.value.span, entry.key.span, entry.value)
                continue
            if name not in entry.key.span.text:
                continue  # it was mended, and reported then
            free = [n for n in known if n not in entries and n not in typed]
            owners = _owners(name, row)
            self.findings.append(names.unknown_attribute(entry.key.span, title, name, free, owners))
            if not owners and (meant := nearest(name, free)):
                # it isn't missing as well
                typed[meant] = Given(INVALID, entry.value.span, entry.key.span, entry.value)
        self.findings += reader.findings
        return typed

    def _missing(self, typed: Mapping[str, Given], row: BlockType, title: str, head: Span) -> None:
        for attribute in row.attributes:
            if attribute.required and attribute.name not in typed:
                self.findings.append(names.missing_attribute(head, title, attribute.name, attribute.doc))

    def _duplicate_keys(self, block: syntax.Block) -> None:
        seen: dict[str, Span] = {}
        for entry in block.attributes or ():
            key = _key(entry)
            if key in seen:
                self.findings.append(values.duplicate_key(entry.key.span, key, seen[key]))
            else:
                seen[key] = entry.key.span

    def _head(self, block: syntax.Block, row: BlockType) -> bool:
        """Whether the first line has the parts that a block of this type needs, and no others."""
        before = len(self.findings)
        if row.named and block.name is None:
            self.findings.append(names.missing_name(block.kind.span, row.name))
        if not row.named and block.name is not None:
            self.findings.append(names.needless_part(block.name.span, row.name, "name"))
        if block.base is not None and not row.kinds and row.name != "worker":
            self.findings.append(names.needless_part(block.base.span, row.name, "kind"))
        if block.parameters and row.name != "worker":
            self.findings.append(names.needless_part(block.parameters[0].span, row.name, "parameter"))
        if block.value is not None:
            self.findings.append(names.needless_part(block.value.span, row.name, "value"))
        if block.attributes is None and row.name != "workflow":
            self.findings.append(names.missing_body(block.head, row.name))
        return len(self.findings) == before


def _broken(module: Module, declarations: tuple[Declaration, ...]) -> frozenset[str]:
    aliases = {
        statement.alias.text
        for statement in module.document.statements
        if isinstance(statement, syntax.Import)
    }
    blocks = {
        block.name.text for block in _blocks(module.document) if block.name and block.kind.text != "param"
    }
    return frozenset(
        (aliases - module.imports.keys()) | (blocks - {declaration.name for declaration in declarations})
    )


def _owners(attribute: str, row: BlockType) -> list[str]:
    """Other blocks that take an attribute of this name."""
    others = (block for block in BLOCKS.values() if block is not row and row not in block.kinds)
    return [
        block.name
        for block in others
        if any(attribute == known.name for kind in (block, *block.kinds) for known in kind.attributes)
    ]


def _blocks(document: syntax.Document) -> list[syntax.Block]:
    return [statement for statement in document.statements if isinstance(statement, syntax.Block)]


def _key(entry: syntax.Entry) -> str:
    return entry.key.text if isinstance(entry.key, syntax.Name) else entry.key.span.text.strip('"')
