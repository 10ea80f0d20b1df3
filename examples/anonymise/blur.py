#!/usr/bin/env python3
"""Blurs the areas without a `person`; writes the photo to $OUTPUT, unharmed by JPEG: NAME.jpg is NAME.png."""

import json
import os
from pathlib import Path

import cv2

with open(os.environ["WORK_ITEM_FILE"]) as file:
    item = json.load(file)
photo = cv2.imread(item["path"])
for area in item["areas"]:
    if "person" not in area:
        rows = slice(area["y"], area["y"] + area["height"])
        columns = slice(area["x"], area["x"] + area["width"])
        photo[rows, columns] = cv2.GaussianBlur(photo[rows, columns], (0, 0), area["width"] / 6)
output = (Path(os.environ["OUTPUT"]) / item["name"]).with_suffix(".png")
output.parent.mkdir(parents=True, exist_ok=True)
part = output.with_suffix(".part.png")
cv2.imwrite(str(part), photo)
part.replace(output)
