"""The pieces of a queue's record, as ConfigMaps."""

import base64

from cluster.client import Manifest
from wqc.runtime.stores.store import Segment


def segment_of(config_map: Manifest) -> Segment:
    """Nothing that is recorded is ever changed: the API server sees to it (promise 7)."""
    name = config_map["metadata"]["name"]
    assert config_map.get("immutable") is True, name
    return Segment(name, base64.b64decode(config_map["binaryData"]["hashes"]))
