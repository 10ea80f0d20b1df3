"""A carrier over HTTP, as a manager asks for it.

PUT …/api/v1/items/NAME?version=VERSION    the item's data as JSON; 204 once the service has it for good
"""

import os
from pathlib import Path

from wqc.contract.pod import SETTINGS_FOLDER
from wqc.runtime.ambassador.api import ITEMS, decoded
from wqc.runtime.carriers.carrier import Carrier, NotAccepted
from wqc.runtime.carriers.opening import open_carrier
from wqc.runtime.httpserver import Answer, Request, refusal
from wqc.runtime.logs import LOGGER
from wqc.runtime.periods import Periods
from wqc.runtime.settings import read_carrier_settings
from wqc.runtime.sources.source import SourceError
from wqc.runtime.text import decode


class BrokenCarrier:
    """One that can't be opened: it says why whenever it is asked, which is where people look."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def publish(self, name: str, version: str, text: str) -> None:
        raise SourceError(self._reason)

    async def close(self) -> None:
        pass


class CarrierApi:
    """At the root and below the carrier's name."""

    def __init__(self, name: str, carrier: Carrier) -> None:
        self._paths = ("", name)
        self._carrier = carrier

    async def answer(self, request: Request) -> Answer:
        before, api, after = request.path.partition(f"{ITEMS}/")
        if not api or not after or "/" in after or before.strip("/") not in self._paths:
            return refusal(404, f"nothing is published here; it is at {ITEMS}/NAME")
        if request.method != "PUT":
            return refusal(405, "only PUT makes sense here", Allow="PUT")
        try:
            text = request.body.decode(errors="surrogatepass")
            decode(text)
        except ValueError as error:
            return refusal(422, f"its data isn't JSON: {error}")
        try:
            await self._carrier.publish(decoded(after), request.query.get("version", ""), text)
        except NotAccepted as error:
            return refusal(422, str(error))
        except SourceError as error:
            return refusal(503, str(error))
        except Exception:
            LOGGER.exception("a request failed", extra={"facts": {"path": request.path}})
            return refusal(500, "the ambassador failed; its log says how")
        return Answer(204)

    async def close(self) -> None:
        await self._carrier.close()


def carrier_api(name: str, periods: Periods) -> CarrierApi:
    """From the carrier's settings."""
    path = Path(os.environ.get("WQC_SETTINGS", SETTINGS_FOLDER), name, "carrier.yaml")
    try:
        return CarrierApi(name, open_carrier(read_carrier_settings(path.read_text()), periods))
    except OSError as error:
        return CarrierApi(name, BrokenCarrier(f"{path} can't be read: {error.strerror}"))
    except (ValueError, SourceError) as error:
        return CarrierApi(name, BrokenCarrier(f"{name}: {error}"))
