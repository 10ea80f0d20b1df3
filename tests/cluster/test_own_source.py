"""examples/own_source on a real node: a user's own ambassador, who knows nothing of wqc, feeds a queue."""

import shutil
from pathlib import Path

from cluster.image import Image
from cluster.interpreter import ENVIRONMENT, interpreter_layer
from cluster.real_node import RealNode
from cluster.system import System
from cluster.workers import shell_image

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TABLE = 'id,name,balance\n17,Ann,3.50\nb2,"Bob, $(x)","1,000"\n'


def test_a_letter_for_every_row(runtime_node: RealNode, tmp_path: Path) -> None:
    shell_image(runtime_node, "docker.io/library/busybox:1.37.0", tmp_path / "busybox")
    program = tmp_path / "rows"
    program.mkdir()
    shutil.copy(EXAMPLES / "own_source" / "source.py", program)
    layers = [interpreter_layer(), program]
    start = ["python3", "/source.py"]
    runtime_node.load_image(
        Image(["registry.example.com/letters/rows:1.0"], layers, start, environment=ENVIRONMENT)
    )
    letters = tmp_path / "letters"
    with System(runtime_node, "own_source", tmp_path, {"letters": letters}) as system:
        (tmp_path / "rows.csv").write_text(TABLE)
        system.kubectl("create", "configmap", "rows", f"--from-file={tmp_path / 'rows.csv'}")
        system.apply(EXAMPLES / "own_source.wq", "listing=0.5 flush=1 backoff=1")
        system.wait_finished("letters", 2)
        assert {path.name: path.read_text() for path in letters.iterdir()} == {
            "17.txt": "Dear Ann,\n\nyour balance is 3.50.\n",
            "b2.txt": "Dear Bob, $(x),\n\nyour balance is 1,000.\n",
        }
        assert system.attempts("letters") == {"17": 1, "b2": 1}
