"""Views become files: templates that look like what they produce, whose holes the environment encodes."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from wqc.emit.encoded import Encoded
from wqc.emit.objects.batch import BatchFile
from wqc.emit.objects.folder import Folder
from wqc.emit.objects.metadata import Identity, Metadata
from wqc.emit.objects.program import Statement
from wqc.emit.objects.queue import QueueFile
from wqc.emit.objects.source import EndFile
from wqc.emit.overlay import merged
from wqc.emit.python_text import WIDTH, call, literal
from wqc.emit.yaml_text import hanging, mapping_lines, nested, scalar
from wqc.emit.yaml_text import literal as yaml_literal

if TYPE_CHECKING:
    import jinja2

KUSTOMIZATION = "kustomization.yaml"


@dataclass(frozen=True, slots=True)
class Rendered:
    """`files` are in the order that people read them; `objects` is all that they hold."""

    files: Mapping[str, str]
    objects: tuple[Identity, ...]


def render(folder: Folder) -> Rendered:
    """Raises jinja2.UndefinedError for a template that doesn't fit its view: wqc's own mistake."""
    return _Renderer(folder).rendered()


class _Renderer:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._files: dict[str, str] = {}
        self._objects: list[Identity] = []

    def rendered(self) -> Rendered:
        folder = self._folder
        self._files[KUSTOMIZATION] = ""  # the first that people read, the last that is known
        self._write("access.yaml.j2", folder.access)
        self._access_objects()
        read: list[str] = []
        if folder.manager:
            self._files[folder.manager.file] = ""
        self._write("network.yaml.j2", folder.network)
        self._network_objects()
        for queue in folder.queues:
            read += self._queue(queue)
        for end in folder.ends:
            read += self._end(end)
        if folder.manager:
            self._manager(read)
        for batch in folder.batches:
            self._batch(batch)
        names = sorted(name for name in self._files if name != KUSTOMIZATION)
        self._files[KUSTOMIZATION] = self._text("kustomization.yaml.j2", files=names)
        return Rendered(self._files, tuple(self._objects))

    def _queue(self, queue: QueueFile) -> list[str]:
        """Writes the file; returns what the manager reads of it."""
        job = self._text("job.yaml.j2", queue=queue.queue, labels=queue.labels, pod=queue.pod)
        settings = _block(queue.settings)
        self._write("queue.yaml.j2", queue, settings=settings, job=job)
        self._add("ConfigMap", queue.metadata, queue.file, len(settings.encode()) + len(job.encode()))
        return [settings, job]

    def _end(self, end: EndFile) -> list[str]:
        settings = _block(end.settings)
        self._write("end.yaml.j2", end, settings=settings)
        self._add("ConfigMap", end.metadata, end.file, len(settings.encode()))
        return [settings]

    def _manager(self, read: list[str]) -> None:
        manager = self._folder.manager
        if manager is None:
            return
        program = _template("manager.py.j2")(**_values(manager.program))
        checksum = _checksum([program, *read])
        self._write("manager.yaml.j2", manager, program=program, checksum=checksum)
        self._add("ConfigMap", manager.metadata, manager.file, len(program.encode()))
        self._add("Deployment", manager.metadata, manager.file)

    def _batch(self, batch: BatchFile) -> None:
        """The hash in the Job's name is of what it says, not of how it is written."""
        import yaml

        checksum = _checksum([_block(batch.settings.settings)])
        unnamed = self._text("batch.yaml.j2", **_values(batch) | {"checksum": checksum})
        content = json.dumps(yaml.load(unnamed, Loader=_loader()), sort_keys=True)
        metadata = batch.metadata._replace(name=f"{batch.metadata.name}-{_digest([content])[:10]}")
        self._write("batch.yaml.j2", batch._replace(metadata=metadata), checksum=checksum)
        self._add("Job", metadata, batch.file)

    def _access_objects(self) -> None:
        access = self._folder.access
        if access.manager:
            for kind in ("ServiceAccount", "Role", "RoleBinding"):
                self._add(kind, access.manager, access.file)
        self._add("ServiceAccount", access.worker, access.file)

    def _network_objects(self) -> None:
        network = self._folder.network
        narrowed = [queue.metadata for queue in network.narrowed]
        for metadata in (network.ingress, network.workers, *narrowed, network.manager):
            if metadata:
                self._add("NetworkPolicy", metadata, network.file)

    def _write(self, template: str, view: Any, **more: Any) -> None:
        self._files[view.file] = self._text(template, **_values(view) | more)

    def _text(self, template: str, **values: Any) -> str:
        return _template(template)(origin=self._folder.origin, **values)

    def _add(self, kind: str, metadata: Metadata, file: str, size: int = 0) -> None:
        self._objects.append(Identity(kind, metadata.namespace, metadata.name, file, size))


def _values(view: Any) -> dict[str, Any]:
    kind: Any = type(view)
    return {name: getattr(view, name) for name in _names(kind)}


@cache
def _names(view: type[Any]) -> tuple[str, ...]:
    """A view's fields, and its properties that a template reads."""
    computed = (name for name, value in vars(view).items() if isinstance(value, property))
    return (*view._fields, *computed)


def _digest(texts: Iterable[str]) -> str:
    digest = sha256()
    for text in texts:
        encoded = text.encode()
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()


def _checksum(texts: Iterable[str]) -> str:
    """The prefix keeps YAML from taking some of them for numbers, which would have to be quoted."""
    return f"sha256-{_digest(texts)[:16]}"


def _loader() -> Any:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def _template(name: str) -> Callable[..., str]:
    return _environment(name.removesuffix(".j2").rpartition(".")[2]).get_template(name).render


@cache
def _environment(language: str) -> "jinja2.Environment":
    """Of templates for `yaml` or `py`: a hole is encoded as a scalar or literal of that language."""
    import jinja2

    encode: dict[str, Callable[[Any], str]] = {"yaml": scalar, "py": literal}
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("wqc"),
        undefined=jinja2.StrictUndefined,
        finalize=encode[language],
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        autoescape=False,  # what is written is no HTML; every hole is encoded
    )
    environment.globals.clear()  # templates use none, and each rendering would copy them
    environment.filters |= {
        "lines": _lines,
        "call": _call,
        "comment": _comment,
        "literal": yaml_literal,
        "merged": merged,
        "nested": nested,
        "words": Encoded,
    }
    return environment


def _block(value: Mapping[str, Any]) -> str:
    """A map's lines, as a file of their own."""
    return "\n".join(mapping_lines(value)) + "\n"


def _lines(value: Mapping[str, Any], indent: int) -> Encoded:
    """A map's lines, the first where the hole is, the others at column `indent`."""
    return Encoded(hanging("\n".join(mapping_lines(value)), indent))


def _comment(text: str) -> Encoded:
    """On the one line that it stands on."""
    return Encoded(" ".join(text.split()))


def _call(statement: Statement) -> Encoded:
    assignment = f"{statement.variable} = " if statement.variable else ""
    function = f"workflow.{statement.method}"
    return call(function, statement.positional, statement.keywords, WIDTH - len(assignment))
