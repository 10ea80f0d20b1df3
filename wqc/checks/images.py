"""Images whose name doesn't say which version they are."""

from collections.abc import Iterator

from wqc.diagnostics.finding import Finding
from wqc.diagnostics.mistakes import security as mistakes
from wqc.diagnostics.source import Span
from wqc.language.values import Raw
from wqc.language.written import value_place
from wqc.model.nodes import Source
from wqc.model.workflow import Workflow


def images(workflow: Workflow) -> Iterator[Finding]:
    """Images of workers, ambassadors, the manager, and of what `pod` adds."""
    declarations = [worker.declaration for worker in workflow.workers.values()]
    declarations += [node.declaration for node in workflow.nodes.values() if isinstance(node, Source)]
    if workflow.manager.declaration:
        declarations.append(workflow.manager.declaration)
    for declaration in declarations:
        if image := declaration.get("image"):
            yield from _unpinned(image, declaration.span_of("image"))
        if "pod" in declaration.attributes:
            given = declaration.attributes["pod"]
            for path, image in _raw_images(declaration.get("pod", {})):
                yield from _unpinned(image, value_place(given.written, path))


def _unpinned(image: str, place: Span) -> Iterator[Finding]:
    tag = tag_of(image)
    if tag in ("", "latest"):
        yield mistakes.unpinned_image(place, image, tag)


def tag_of(image: str) -> str:
    """`"7.1"` of `host:5000/ffmpeg:7.1`; a digest counts as one; `""` without either."""
    name, _, digest = image.partition("@")
    last = name.rpartition("/")[2]
    return digest or last.partition(":")[2]


def _raw_images(pod: dict[str, Raw]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for kind in ("initContainers", "containers"):
        containers = pod.get(kind)
        for index, container in enumerate(containers if isinstance(containers, list) else ()):
            if isinstance(container, dict) and isinstance(image := container.get("image"), str):
                yield (kind, index, "image"), image
    volumes = pod.get("volumes")
    for index, volume in enumerate(volumes if isinstance(volumes, list) else ()):
        image_volume = volume.get("image") if isinstance(volume, dict) else None
        if isinstance(image_volume, dict) and isinstance(reference := image_volume.get("reference"), str):
            yield ("volumes", index, "image", "reference"), reference
