#!/usr/bin/env python3
"""Finds areas of a photo: adds `areas`, a list of {x, y, width, height}, to the item.

detect.py --cascade NAME    NAME is one of OpenCV's own classifiers
"""

import json
import os
import sys

import cv2

classifier = cv2.CascadeClassifier(cv2.data.haarcascades + sys.argv[sys.argv.index("--cascade") + 1])
with open(os.environ["WORK_ITEM_FILE"]) as file:
    item = json.load(file)
photo = cv2.imread(item["path"], cv2.IMREAD_GRAYSCALE)
if photo is None:
    sys.exit(f"{item['path']} is no image")
found = classifier.detectMultiScale(photo, scaleFactor=1.1, minNeighbors=6, minSize=(32, 32))
item["areas"] = [dict(zip(("x", "y", "width", "height"), map(int, area), strict=True)) for area in found]
with open(os.environ["WORK_RESULT_FILE"], "w") as file:
    json.dump(item, file)
