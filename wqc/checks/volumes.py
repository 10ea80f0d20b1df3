"""Volumes: who mounts which claim, whether the claim allows it, and whether files can be opened."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wqc.diagnostics.finding import Finding, Label
from wqc.diagnostics.mistakes import volumes as mistakes
from wqc.diagnostics.source import Span
from wqc.language.declaration import Given
from wqc.language.values import Pvc
from wqc.language.written import value_place
from wqc.model.edges import edges_of
from wqc.model.nodes import Batch, Carrier, Queue, Source, Worker
from wqc.model.streams import Streams
from wqc.model.workflow import Workflow

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class _Use:
    """A claim as one place mounts it; `pods` of them at a time belong to `owner`."""

    claim: Pvc
    path: str
    span: Span
    owner: str
    pods: int

    @property
    def words(self) -> str:
        if not self.owner:
            return "the manager's pod mounts it"
        if self.pods == 1:
            return f"a pod of `{self.owner}` mounts it"
        return f"up to {self.pods} pods of `{self.owner}` mount it"


def volumes(workflow: Workflow) -> Iterator[Finding]:
    """Claims that are shared or written to although they can't be, and files that nobody can open."""
    yield from _shared([*_manager_uses(workflow), *_worker_uses(workflow)])
    for worker in workflow.workers.values():
        for use in _mounts(worker, "", 1):
            if use.claim.access == "rox" and not use.claim.read_only:
                yield mistakes.written_read_only_volume(use.span, use.claim.name)
    if workflow.complete:
        for node in workflow.nodes.values():
            if isinstance(node, Source) and node.kind == "files":
                yield from _files(workflow, node)


def _shared(uses: list[_Use]) -> Iterator[Finding]:
    """Claims for one node whose pods may be on several."""
    for name in dict.fromkeys(use.claim.name for use in uses):
        same = [use for use in uses if use.claim.name == name]
        pods = {use.owner: use.pods for use in same}
        said = next((use for use in same if use.claim.access == "rwo"), None)
        if said is None or sum(pods.values()) < 2:
            continue
        others = {use.span: Label(use.span, use.words) for use in same if use.span != said.span}
        yield mistakes.shared_volume(said.span, name, said.words, list(others.values())[:_SHOWN])


def _option_sets(node: Source) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Given]]]:
    """The typed options and the given attributes of a source, or of each member of a bundle."""
    if node.members:
        yield from zip(node.members.values(), node.declaration.members.values(), strict=True)
    else:
        yield node.options, node.declaration.attributes


def _manager_uses(workflow: Workflow) -> Iterator[_Use]:
    for node in workflow.nodes.values():
        if not isinstance(node, Source):
            continue
        for options, given in _option_sets(node):
            if "volume" in options:
                yield _Use(options["volume"], options["path"], given["volume"].span, "", 1)
            for path, claim in options.get("mounts", {}).items():
                if isinstance(claim, Pvc):
                    yield _Use(claim, path, value_place(given["mounts"].written, (path,)), "", 1)


def _worker_uses(workflow: Workflow) -> Iterator[_Use]:
    streams = Streams(workflow.nodes)
    for node in workflow.nodes.values():
        if isinstance(node, Queue):
            lanes = len(streams.lanes(node)) or 1
            yield from _mounts(node.worker, node.name, lanes * node.parallelism.high)
        elif isinstance(node, Batch):
            yield from _mounts(node.worker, node.name, node.parallelism)


def _mounts(worker: Worker, owner: str, pods: int) -> Iterator[_Use]:
    """Those of a worker's pod: a pipeline's own, and its steps'."""
    for part in (worker, *worker.pipeline):
        for path, claim in part.mounts.items():
            if isinstance(claim, Pvc):
                span = value_place(part.declaration.attributes["mounts"].written, (path,))
                yield _Use(claim, path, span, owner, pods)


def _files(workflow: Workflow, source: Source) -> Iterator[Finding]:
    """Paths that lead nowhere in the workers that get them."""
    workers = _workers_behind(workflow, source)
    for options, given in _option_sets(source):
        claim, path = options["volume"], options["path"].rstrip("/") or "/"
        mounted = False
        for worker in workers:
            same = [use for use in _mounts(worker, "", 1) if use.claim.name == claim.name]
            mounted = mounted or bool(same)
            alike = [use for use in same if use.claim.sub_path == claim.sub_path]
            if (
                alike
                and len(alike) == len(same)
                and all((use.path.rstrip("/") or "/") != path for use in alike)
            ):
                use = alike[0]
                yield mistakes.files_mounted_elsewhere(
                    use.span, source.name, path, use.path, given["path"].span
                )
        if workers and not mounted:
            declared = [
                Label(worker.declaration.name_span, "gets the paths of its files")
                for worker in workers[:_SHOWN]
            ]
            names = [worker.name for worker in workers]
            yield mistakes.files_not_mounted(
                given["volume"].span, source.name, claim.name, path, names, declared
            )


def _workers_behind(workflow: Workflow, source: Source) -> list[Worker]:
    """The workers that get the source's items with their data, each once."""
    edges = edges_of(workflow.nodes)
    reached, waiting = dict[str, Worker](), [source.name]
    seen = {source.name}
    while waiting:
        node = workflow.nodes[waiting.pop(0)]
        if isinstance(node, Queue | Batch):
            reached.setdefault(node.worker.name, node.worker)
        if isinstance(node, Batch | Carrier) or (isinstance(node, Queue) and node.result == "required"):
            continue
        for edge in edges:
            if edge.stream.node == node.name and edge.stream.output != "failed" and edge.reader not in seen:
                seen.add(edge.reader)
                waiting.append(edge.reader)
    return list(reached.values())
