"""`wqc-runtime source`, `carrier` and each pattern node: from arguments to what they serve."""

import argparse
import asyncio
import os
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from wqc.contract.expression import Expression, InvalidExpression, compile_expression
from wqc.patterns.copier import Copier
from wqc.patterns.filter import Filter
from wqc.patterns.item import Pattern
from wqc.patterns.sharder import Sharder
from wqc.patterns.splitter import OTHERWISE, Splitter
from wqc.runtime.ambassador.api import SourceApi
from wqc.runtime.ambassador.carriers import carrier_api
from wqc.runtime.ambassador.patterns import MergedSource, Node, Output
from wqc.runtime.ambassador.serving import Api, serve
from wqc.runtime.ambassador.sources import open_sources
from wqc.runtime.graph.graph import FAILED
from wqc.runtime.periods import Periods, periods_from
from wqc.runtime.sources.http import HttpSource
from wqc.runtime.sources.opening import PATIENCE
from wqc.runtime.sources.patient import patient
from wqc.runtime.sources.source import Source

TOKEN = "WQC_AUTH"
"""In the environment: the bearer token for the Source API in front of which a pattern node stands."""
PORT = 8080

Open = Callable[[argparse.Namespace, Periods], Api]


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Each sets `run`, which serves until told to stop."""
    source = _command(commands, "source", "serve sources of a workflow, from their settings", _sources)
    source.add_argument(
        "names", nargs="+", metavar="NAME", help="a source; its settings are in a folder of its name"
    )
    carrier = _command(commands, "carrier", "publish what a manager sends", _carrier)
    carrier.add_argument("name", metavar="NAME", help="a carrier; its settings are in a folder of its name")
    copier = _pattern(commands, "copier", "one stream for several readers", _copier)
    copier.add_argument(
        "--to", action="append", required=True, metavar="NAME", help="a reader: it asks at /NAME"
    )
    filter = _pattern(commands, "filter", "the items for which a condition holds", _filter)
    filter.add_argument("--where", type=_expression, required=True, metavar="CEL", help="the condition")
    splitter = _pattern(commands, "splitter", "a stream for each case, at /NAME", _splitter)
    splitter.add_argument(
        "--case", type=_named_expression, action="append", required=True, metavar="NAME=CEL", help="a case"
    )
    splitter.add_argument(
        "--otherwise", choices=["drop"], help="forget what fits no case, instead of serving it at /otherwise"
    )
    sharder = _pattern(commands, "sharder", "each item to one of several streams, at /NAME", _sharder)
    sharder.add_argument("--key", type=_expression, required=True, metavar="CEL", help="what decides")
    sharder.add_argument("--shard", action="append", required=True, metavar="NAME", help="a shard")
    merger = _command(commands, "merger", "several streams as one", _merger)
    merger.add_argument(
        "--from",
        dest="source",
        type=_named_url,
        action="append",
        required=True,
        metavar="NAME=URL",
        help="an input: its items are called NAME:item",
    )


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str, open: Open
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name, help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False
    )
    parser.add_argument("--port", type=int, default=PORT, help=f"on loopback (default {PORT})")
    parser.set_defaults(run=lambda arguments: _serve(arguments, open))
    return parser


def _serve(arguments: argparse.Namespace, open: Open) -> None:
    """Raises OSError for a port that can't be had, ValueError for what can't be served."""

    async def run() -> None:
        periods = periods_from()
        await serve(open(arguments, periods), arguments.port, periods.request)

    asyncio.run(run())


def _pattern(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str, open: Open
) -> argparse.ArgumentParser:
    parser = _command(commands, name, text, open)
    parser.add_argument(
        "--from",
        dest="source",
        type=_url,
        required=True,
        metavar="URL",
        help="the Source API to read: what stands before /api/v1/items",
    )
    return parser


def _sources(arguments: argparse.Namespace, periods: Periods) -> Api:
    return SourceApi(open_sources(arguments.names, periods))


def _carrier(arguments: argparse.Namespace, periods: Periods) -> Api:
    return carrier_api(arguments.name, periods)


def _copier(arguments: argparse.Namespace, periods: Periods) -> Api:
    return _outputs(arguments, periods, Copier(), arguments.to, copies=True)


def _filter(arguments: argparse.Namespace, periods: Periods) -> Api:
    return _outputs(arguments, periods, Filter(arguments.where), ["", FAILED])


def _splitter(arguments: argparse.Namespace, periods: Periods) -> Api:
    cases = dict(arguments.case)
    drop = arguments.otherwise == "drop"
    others = [FAILED] if drop else [OTHERWISE, FAILED]
    return _outputs(arguments, periods, Splitter(tuple(cases.items()), drop), [*cases, *others])


def _sharder(arguments: argparse.Namespace, periods: Periods) -> Api:
    shards = tuple(dict.fromkeys(arguments.shard))
    return _outputs(arguments, periods, Sharder(arguments.key, shards), [*shards, FAILED])


def _merger(arguments: argparse.Namespace, periods: Periods) -> Api:
    inputs = {name: _upstream(url, periods) for name, url in arguments.source}
    return SourceApi({"": patient(MergedSource(inputs), PATIENCE * periods.request)})


def _outputs(
    arguments: argparse.Namespace,
    periods: Periods,
    pattern: Pattern,
    names: Iterable[str],
    copies: bool = False,
) -> Api:
    outputs = tuple(dict.fromkeys(names))
    node = Node(_upstream(arguments.source, periods), pattern, outputs if copies else ("",))
    return SourceApi({name: patient(Output(node, name), PATIENCE * periods.request) for name in outputs})


def _upstream(url: str, periods: Periods) -> Source:
    token = os.environ.get(TOKEN)
    return HttpSource(url, PATIENCE * periods.request, (lambda: token) if token else None)


def _expression(text: str) -> Expression:
    try:
        return compile_expression(text)
    except InvalidExpression as error:
        raise argparse.ArgumentTypeError(f"`{text}`: {error}") from None


def _named_expression(text: str) -> tuple[str, Expression]:
    name, expression = _named(text)
    return name, _expression(expression)


def _named_url(text: str) -> tuple[str, str]:
    name, url = _named(text)
    return name, _url(url)


def _named(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or set(name) & set("/:."):
        raise argparse.ArgumentTypeError(f"{text} isn't of the form NAME=VALUE")
    return name, value


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise argparse.ArgumentTypeError(f"{text} is no http:// or https:// address")
    return text
