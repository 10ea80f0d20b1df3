"""What the compiler writes into pods and the run time finds there: paths, ports and programs."""

SETTINGS_FOLDER = "/etc/wqc"
"""In the manager and its ambassadors: `manager.py`, and `NAME/source.yaml` or `NAME/carrier.yaml`."""

PROGRAM = "wqc-runtime"
"""In the runtime image: `source --port=P NAME…`, `carrier --port=P NAME`, `seed FROM TO…`, `batch …`."""

MANAGER_PORT = 9090
"""The manager's /healthz, /readyz and /metrics."""

FIRST_AMBASSADOR_PORT = 8081
"""On loopback; further ambassadors take the next ones."""

ITEM_FOLDER = "/wqc/item"
"""In a worker: `item.json`, `fields/KEY`, and `stdin` for `input = stdin`."""

STEPS_FOLDER = "/wqc/steps"
"""In the steps of a pipeline: `1.json` is the first step's result, and the second's item."""

SCRATCH_FOLDER = "/wqc/scratch"

RESULT_FILE = "/dev/termination-log"
"""The last step's result: the container's termination message."""

STDIN_ANNOTATION = "wqc/stdin"
"""On a pod whose worker reads its standard input: the item's data as the worker gets it."""

WRAPPER = "/usr/local/bin/wqc-wrapper"
"""In the runtime image: the static program that a batch's worker container runs."""

BATCH_FOLDER = "/wqc/batch"
"""Shared by a batch's containers: the wrapper, the sidecar's socket, the item and the worker's result."""
