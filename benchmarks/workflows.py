"""Generated workflows of any size."""

_HEAD = """\
workflow large
manager { image = "registry.example.com/wqc-runtime:0.1.0" }

source uploads: redis_stream { brokers = "redis:6379", key = "uploads", arrives = 1d }
copier every { from = uploads }
"""

_QUEUE = """
worker resizer_{n} {{
  image   = "registry.example.com/resizer:4.{n}"
  command = ["resize", "--width", "{n}"]
  env     = {{ STORE = "https://s3.example.com", TOKEN = secret("store", "token") }}
  cpu     = 100m..1
  memory  = 128Mi
  takes   = 20s
}}

queue resized_{n} {{
  from        = every
  worker      = resizer_{n}
  parallelism = 1..4
  retries     = 5
  timeout     = 2m
}}
"""


def workflow(queues: int) -> str:
    """A `.wq` file of one source, copied to so many queues with a worker each (at least two)."""
    return _HEAD + "".join(_QUEUE.format(n=n) for n in range(1, queues + 1))
