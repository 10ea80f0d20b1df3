"""WQ63x: volumes that can't be shared or written, files that can't be opened."""

from collections.abc import Sequence

from wqc.diagnostics.finding import Label, Level
from wqc.diagnostics.mistake import Words, mistake
from wqc.diagnostics.source import Span

_FILES = (
    "workflow w\n"
    + 'manager { image = "example.com/wqc-runtime:1" }\n'
    + 'source films: files { path = "/media", volume = pvc("media"), arrives = 1m }\n'
    + 'worker k { image = "example.com/k:1", cpu = 1, memory = 1Gi, takes = 10s, '
    + 'mounts = { "/media" = pvc("media") } }\n'
    + "queue q { from = films, worker = k, parallelism = 4 }\n"
)


@mistake(
    "WQ630",
    Level.ERROR,
    bad=_FILES.replace('volume = pvc("media")', 'volume = pvc("media", access = rwo)'),
    good=_FILES,
)
def shared_volume(claim: str, user: str, others: Sequence[Label]) -> Words:
    """A volume for one node that several pods mount

    A claim whose access mode is ReadWriteOnce (`access = rwo`) is attached to one node at a time; pods on
    other nodes wait for it for ever. The manager's pod, a worker's pods and those of other workers may all
    be on different nodes.
    """
    return Words(
        f'pvc("{claim}") can be on one node at a time, and several pods mount it',
        label=user,
        also=tuple(others),
        help="use a claim that many nodes can mount (`access = rwx`, or `rox` with `read_only = true`);\n"
        "where there is a single node, silence this with the reason",
    )


@mistake(
    "WQ631",
    Level.ERROR,
    bad=_FILES.replace('"/media" = pvc("media")', '"/media" = pvc("media", access = rox)'),
    good=_FILES.replace('"/media" = pvc("media")', '"/media" = pvc("media", access = rox, read_only = true)'),
)
def written_read_only_volume(claim: str) -> Words:
    """A read-only volume that is mounted for writing

    A claim whose access mode is ReadOnlyMany (`access = rox`) can't be written to by anyone.
    """
    return Words(
        f'pvc("{claim}") can only be read, and this mounts it for writing',
        help=f'add `read_only = true`: `pvc("{claim}", access = rox, read_only = true)`',
    )


@mistake(
    "WQ632",
    Level.WARNING,
    bad=_FILES.replace(', mounts = { "/media" = pvc("media") }', ""),
    good=_FILES,
)
def files_not_mounted(
    source: str, claim: str, path: str, workers: Sequence[str], declared: Sequence[Label]
) -> Words:
    """Files that no worker can open

    A `files` source hands out paths. Of all the workers that get its items none mounts the volume that they
    lie on.
    """
    names = " or ".join(f"`{worker}`" for worker in workers)
    return Words(
        f"no worker that gets the files of `{source}` mounts their volume",
        label="the files lie here",
        also=tuple(declared),
        help=f'add `mounts = {{ "{path}" = pvc("{claim}") }}` to {names}',
    )


@mistake(
    "WQ633",
    Level.NOTE,
    bad=_FILES.replace('"/media" = pvc', '"/data" = pvc'),
    good=_FILES,
)
def files_mounted_elsewhere(source: str, path: str, mounted: str, declared: Span) -> Words:
    """Files that are at another path in the worker

    An item of a `files` source has the file's `path` as its source sees it, and its `name`, which is the
    path below the source's directory. In a worker that mounts the volume elsewhere only the name is of use.
    """
    return Words(
        f"the files of `{source}` are below {path} in its items and below {mounted} here",
        also=(Label(declared, "the path in the items"),),
        help=f'mount the volume at "{path}", or open the item\'s name below {mounted} instead of its path',
    )
