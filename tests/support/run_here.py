"""A workflow of two queues whose workers write down what they had, and `wqc run` on it."""

from pathlib import Path

PERIODS = "backoff=0.1 backoff_limit=0.5 flush=0.2 listing=0.3"

CHAIN = """\
workflow chain
source names: items { items = [%s] }
worker note {
  image = "busybox:1.36"
  run = '''
    echo "$NODE $(cat "$WORK_ITEM_FILE")" >> "$LOG"
    sleep 0.1
    '''
}
queue first { from = names, worker = note, parallelism = 3, env = { NODE = "first", LOG = "%s" } }
queue second { from = first, worker = note, parallelism = 3, env = { NODE = "second", LOG = "%s" } }
""".replace("'''", '"""')
"""Takes the names as list entries, then the log of each queue."""


def written(folder: Path, text: str) -> Path:
    path = folder / "w.wq"
    path.write_text(text)
    return path
