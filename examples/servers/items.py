"""The Source API over a file, to try a workflow without its broker: each line is an item's data, as JSON.

items.py ADDRESS FIELD FILE    items.py 127.0.0.1:8000 user_id users.jsonl: an item's name is its user_id

A line that is changed is a new version of its item.
"""

import hashlib
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

ITEMS = "/api/v1/items"
address, field, path = sys.argv[1:]
host, _, port = address.rpartition(":")


def items() -> dict[str, dict[str, object]]:
    with open(path, encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return {str(data[field]): data for data in found}


def version(data: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        known = items()
        name = unquote(self.path.removeprefix(f"{ITEMS}/"))
        if self.path == ITEMS:
            versions = {each: version(data) for each, data in known.items()}
            self.answer({"kind": "ItemList", "apiVersion": "v1", "items": list(known), "versions": versions})
        elif self.path.startswith(f"{ITEMS}/") and name in known:
            self.answer({"kind": "Item", "apiVersion": "v1", "data": known[name]})
        else:
            self.send_error(404)

    def answer(self, body: dict[str, object]) -> None:
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments: object) -> None: ...


ThreadingHTTPServer((host, int(port)), Handler).serve_forever()
