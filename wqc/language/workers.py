"""Generic workers: what an instance such as `worker resize: lib.fetch_run { script = … }` is made of."""

from collections.abc import Mapping
from dataclasses import dataclass

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import names
from wqc.diagnostics.suggestion import nearest
from wqc.language import syntax
from wqc.language.schema import WORKER
from wqc.language.scope import Binding, Scope


@dataclass(frozen=True, slots=True)
class WorkerFile:
    """The workers of one file and of those that it imports, with the scope of its params."""

    workers: Mapping[str, syntax.Block]
    scope: Scope
    imports: Mapping[str, "WorkerFile"]
    unread: frozenset[str]

    def find(self, path: syntax.Path) -> "tuple[syntax.Block, WorkerFile] | None":
        """The worker that `fetch` or `lib.fetch` names, and the file that holds it."""
        match [name.text for name in path.names]:
            case [name] if name in self.workers:
                return self.workers[name], self
            case [alias, name] if alias in self.imports and name in self.imports[alias].workers:
                return self.imports[alias].workers[name], self.imports[alias]
        return None

    def known(self) -> list[str]:
        """What a worker may be made from, as it is written."""
        imported = [f"{alias}.{name}" for alias, file in self.imports.items() for name in file.workers]
        return [*self.workers, *imported]


_TAKEN = frozenset(attribute.name for attribute in WORKER.attributes)

Attributes = dict[str, tuple[syntax.Entry, Scope]]


def expand(block: syntax.Block, file: WorkerFile, findings: list[Finding]) -> Attributes | None:
    """The attributes of a worker, each with the scope that it is read in; `None` if what it is made from is
    wrong.

    An instance's own attributes go before those of the worker that it is made from.
    """
    return _expand(block, file, {}, findings, ())


def _expand(
    block: syntax.Block,
    file: WorkerFile,
    arguments: Mapping[str, Binding],
    findings: list[Finding],
    chain: tuple[syntax.Block, ...],
) -> Attributes | None:
    scope = file.scope.with_bindings(arguments)
    own = {_key(entry): (entry, scope) for entry in block.attributes or ()}
    if block.base is None:
        return own
    found = file.find(block.base)
    if found is None:
        if block.base.names[0].text not in file.unread:
            findings.append(names.unknown_worker(block.base.span, block.base.text, file.known()))
        return None
    base, base_file = found
    if base is block or base in chain:
        findings.append(names.worker_cycle(block.base.span, block.base.text))
        return None
    parameters = [parameter.text for parameter in base.parameters]
    passed: dict[str, Binding] = {}
    for parameter in base.parameters:
        if parameter.text in own:
            entry, _ = own.pop(parameter.text)
            passed[parameter.text] = Binding(entry.value, scope, entry.value.span)
            continue
        misspelt = nearest(
            parameter.text, [key for key in own if key not in parameters and key not in _TAKEN]
        )
        if misspelt:
            free = [name for name in parameters if name not in own and name not in passed]
            span = own[misspelt][0].key.span
            findings.append(names.unknown_attribute(span, f"`{block.base.text}`", misspelt, free))
        else:
            name = block.base.text
            findings.append(names.missing_argument(block.head, name, parameter.text, parameter.span))
    if len(passed) < len(parameters):
        return None
    inherited = _expand(base, base_file, passed, findings, (*chain, block))
    return None if inherited is None else inherited | own


def _key(entry: syntax.Entry) -> str:
    return entry.key.text if isinstance(entry.key, syntax.Name) else entry.key.span.text.strip('"')
