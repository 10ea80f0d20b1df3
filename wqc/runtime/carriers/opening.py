"""From a carrier's settings to a carrier that runs in this process."""

from collections.abc import Callable, Mapping

from wqc.contract.settings import CarrierSettings
from wqc.runtime.carriers.carrier import Carrier
from wqc.runtime.periods import Periods
from wqc.runtime.sources.options import Options
from wqc.runtime.sources.source import SourceError

PATIENCE = 0.8
"""The part of a request's time after which an item counts as not published: before who asked gives up."""


def open_carrier(settings: CarrierSettings, periods: Periods) -> Carrier:
    """Raises SourceError for settings that can't be."""
    open_kind = KINDS.get(settings.kind)
    if open_kind is None:
        raise SourceError(f"{settings.carrier}: there is no carrier of kind {settings.kind} here")
    options = Options(settings.carrier, settings.options)
    carrier = open_kind(options, periods)
    options.none_left()
    return carrier


def _kafka(options: Options, periods: Periods) -> Carrier:
    from wqc.runtime.carriers.kafka import KafkaCarrier, Target
    from wqc.runtime.kafka.connection import connection

    target = Target(
        options.text("topic"),
        options.flag("create", False),
        options.count("partitions", 1),
        options.count("replication", 3),
    )
    return KafkaCarrier(connection(options), target, PATIENCE * periods.request)


KINDS: Mapping[str, Callable[[Options, Periods], Carrier]] = {"kafka": _kafka}
