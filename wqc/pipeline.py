"""The compiler as a list of named steps. Nothing here reads, writes or prints."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wqc.checks.conditions import check_conditions
from wqc.checks.graph import check_graph
from wqc.checks.kubernetes import check_kubernetes
from wqc.checks.rates import check_rates
from wqc.checks.renames import check_renames
from wqc.checks.security import check_security
from wqc.checks.silencers import silence
from wqc.checks.sizes import check_sizes, may_be_too_large
from wqc.checks.unused import check_unused
from wqc.diagnostics.finding import Finding, Level
from wqc.diagnostics.mistake import is_blocking
from wqc.diagnostics.mistakes import names
from wqc.diagnostics.order import in_order
from wqc.diagnostics.source import Source, Span
from wqc.emit.objects.metadata import Identity
from wqc.language.imports import Module, Unreadable, load
from wqc.language.lower import lower
from wqc.language.params import command_line_settings, file_settings
from wqc.model.flow import Flow, flow_of
from wqc.model.resolve import resolve

if TYPE_CHECKING:
    from wqc.model.workflow import Workflow

__all__ = ["Built", "Checked", "Options", "Unreadable", "build", "check"]


def nothing_to_read(importer: Source, path: str) -> Source:
    """The reader of a compiler that is given no files."""
    raise Unreadable("there is no file here to import")


def no_earlier_build(workflow: str) -> Mapping[str, str]:
    """The queues of a workflow that was never built."""
    return {}


@dataclass(frozen=True, slots=True)
class Options:
    """What a build depends on besides its text.

    `read(importer, path)` gives the text of an import. `params` are `name = text` pairs, the last of a name
    wins, set after `params_files`. `kubernetes_version` is one of `wqc.model.podspec.VERSIONS`. `image` is
    the runtime image (`manager { image }` goes first). `earlier_queues(workflow)` are the queues in the
    lock of that workflow's previous build, whose finished items must not be forgotten, each with its
    `rework`, "" where that isn't known; where the lock is depends on the workflow's name, which only the
    compiler knows.
    """

    read: Callable[[Source, str], Source] = nothing_to_read
    params: tuple[tuple[str, str], ...] = ()
    params_files: tuple[Source, ...] = ()
    kubernetes_version: str = "1.37"
    image: str = ""
    earlier_queues: Callable[[str], Mapping[str, str]] = no_earlier_build


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of a file without emitting it.

    `findings` are sorted and silencers applied; `workflow` and `flow` (its graph with rates) are `None` where
    errors left nothing to look at.
    """

    findings: tuple[Finding, ...]
    workflow: "Workflow | None" = None
    flow: Flow | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """`files` maps file names to their text, `objects` lists what they hold; none if there are errors."""

    checked: Checked
    files: Mapping[str, str] = field(default_factory=dict)
    objects: tuple[Identity, ...] = ()


def check(source: Source, options: Options) -> Checked:
    """All findings of one workflow file."""
    return compiled(source, options, write=False).checked


def build(source: Source, options: Options) -> Built:
    """The folder of one workflow file."""
    return compiled(source, options, write=True)


def compiled(source: Source, options: Options, *, write: bool) -> Built:
    """Every step; without `write`, those that write only where it takes them to find mistakes."""
    module, findings = load(source, options.read)
    settings, more = file_settings(options.params_files)
    findings += more
    program, more = lower(module, [*settings, *command_line_settings(options.params)])
    findings += more
    workflow, more = resolve(program)
    findings += more
    if workflow is None:
        if not has_errors(findings):
            findings.append(names.no_workflow(Span(source, 0, 0)))
        return Built(Checked(reported(findings, module)))
    if has_errors(findings):
        workflow = replace(workflow, complete=False)
    flow = flow_of(workflow)
    findings += [*checks(flow, options), *check_unused(module.document)]
    checked = Checked(reported(findings, module), workflow, flow)
    if has_errors(checked.findings) or not (write or may_be_too_large(workflow)):
        return Built(checked)
    # a check seldom comes here, and would take a tenth longer to start
    from wqc.emit.lock import sealed
    from wqc.emit.objects.folder import folder, remembered
    from wqc.emit.placement import place
    from wqc.emit.render import render

    rendered = render(folder(workflow, place(workflow), flow.rates, options.image))
    findings += check_sizes(workflow, rendered.objects)
    checked = replace(checked, findings=reported(findings, module))
    if has_errors(checked.findings):
        return Built(checked)
    return Built(checked, sealed(rendered.files, workflow.name, remembered(workflow)), rendered.objects)


def checks(flow: Flow, options: Options) -> list[Finding]:
    """What a workflow whose parts are understood has wrong as a whole."""
    return [
        *check_graph(flow),
        *check_renames(flow.workflow, options.earlier_queues(flow.workflow.name)),
        *check_conditions(flow),
        *check_rates(flow),
        *check_kubernetes(flow.workflow, options.kubernetes_version, options.image),
        *check_security(flow.workflow, options.kubernetes_version),
    ]


def reported(findings: list[Finding], module: Module) -> tuple[Finding, ...]:
    """What no silencer allows, in order. Advice waits until there is something to build."""
    documents = list(module.documents())
    loud = silence(findings, documents)
    if any(map(is_blocking, loud)):
        loud = [finding for finding in loud if finding.level is not Level.NOTE]
    return in_order(loud, [document.source.name for document in documents])


def has_errors(findings: Iterable[Finding]) -> bool:
    """Whether anything keeps the workflow from being built."""
    return any(finding.level is Level.ERROR for finding in findings)
