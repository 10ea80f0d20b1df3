"""The generated field trees equal what tools/podspec_fields.py makes today."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "podspec_fields.py"


def test_generated_files_equal_a_regeneration(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(TOOL), str(tmp_path)], check=True)
    fresh = {path.name: path.read_text() for path in tmp_path.iterdir()}
    shipped = {
        path.name: path.read_text()
        for path in (files("wqc") / "model" / "kubernetes").iterdir()
        if path.name.endswith(".json")
    }
    assert len(fresh) == 3
    assert shipped == fresh, "run tools/podspec_fields.py"


def test_every_type_mentioned_is_there() -> None:
    for path in (files("wqc") / "model" / "kubernetes").iterdir():
        if not path.name.endswith(".json"):
            continue
        types = json.loads(path.read_text())["types"]
        mentioned = {each.strip("[]{}") for entry in types.values() for each in entry["fields"].values()}
        assert {name for name in mentioned if name[0].isupper()} <= set(types)
        assert types["PodSpec"]["required"] == ["containers"]
        assert types["Container"]["fields"]["image"] == "string"
