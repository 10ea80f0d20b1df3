#!/usr/bin/env python3
"""Recognises people: adds `person` to those areas of the item that look like a portrait in a folder.

tag.py --people FOLDER    FOLDER has one portrait for each person, NAME.png, cut as detect.py cuts
"""

import json
import os
import sys
from pathlib import Path

import cv2

ALIKE = 0.9  # normalised correlation
SIZE = (64, 64)


def face(grey):  # type: ignore[no-untyped-def]
    return cv2.equalizeHist(cv2.resize(grey, SIZE, interpolation=cv2.INTER_AREA))


people = {
    path.stem: face(cv2.imread(str(path), cv2.IMREAD_GRAYSCALE))
    for path in sorted(Path(sys.argv[sys.argv.index("--people") + 1]).glob("*.png"))
}
with open(os.environ["WORK_ITEM_FILE"]) as file:
    item = json.load(file)
photo = cv2.imread(item["path"], cv2.IMREAD_GRAYSCALE)
for area in item["areas"]:
    x, y, width, height = (area[side] for side in ("x", "y", "width", "height"))
    cut = face(photo[y : y + height, x : x + width])
    alike = {
        name: float(cv2.matchTemplate(cut, portrait, cv2.TM_CCOEFF_NORMED).max())
        for name, portrait in people.items()
    }
    nearest = max(alike, key=lambda name: alike[name], default="")
    if nearest and alike[nearest] >= ALIKE:
        area["person"] = nearest
with open(os.environ["WORK_RESULT_FILE"], "w") as file:
    json.dump(item, file)
