"""Fills a Kafka topic, as a carrier does: a message's headers say its item's name."""

import asyncio
from collections.abc import Sequence

from wqc.runtime.carriers.kafka import KafkaCarrier
from wqc.runtime.filling.filler import Entry
from wqc.runtime.sources.source import SourceError


class KafkaFiller:
    def __init__(self, carrier: KafkaCarrier) -> None:
        self._carrier = carrier

    async def put(self, entries: Sequence[Entry]) -> None:
        try:
            texts = [entry.body.decode(errors="surrogatepass") for entry in entries]
        except UnicodeDecodeError:
            raise SourceError("what isn't UTF-8 can't be put on a topic here") from None
        await asyncio.gather(
            *(self._carrier.publish(entry.name, "", text) for entry, text in zip(entries, texts, strict=True))
        )

    async def close(self) -> None:
        await self._carrier.close()
