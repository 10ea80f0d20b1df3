"""usage: print_with_pyyaml.py OBJECT.json COUNT    PyYAML's C dumper alone: so many objects, NAME replaced"""

import json
import sys

import yaml

with open(sys.argv[1]) as file:
    text = file.read()
objects = [json.loads(text.replace("NAME", f"queue-{n}")) for n in range(int(sys.argv[2]))]
yaml.dump_all(objects, sys.stdout, Dumper=yaml.CSafeDumper, sort_keys=False)
