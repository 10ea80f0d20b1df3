"""From a command's options to the compiler's."""

from argparse import Namespace
from collections.abc import Callable, Mapping

from wqc.cli import files
from wqc.cli.imports import Imports
from wqc.pipeline import Options, no_earlier_build


def options(
    arguments: Namespace, *, earlier_queues: Callable[[str], Mapping[str, str]] = no_earlier_build
) -> Options:
    """Reads the `.wqp` files. Raises `Trouble`."""
    return Options(
        read=Imports(),
        params=tuple(arguments.param.items()),
        params_files=tuple(files.read(path) for path in arguments.params),
        kubernetes_version=arguments.kubernetes_version,
        image=arguments.image,
        earlier_queues=earlier_queues,
    )
