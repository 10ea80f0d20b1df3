"""The Source API over a table: every row of $TABLE is an item, named after its first column."""

import csv
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

ITEMS = "/api/v1/items"


def rows() -> dict[str, dict[str, str]]:
    with open(os.environ["TABLE"], newline="", encoding="utf-8") as table:
        return {next(iter(row.values())): row for row in csv.DictReader(table)}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == ITEMS:
            self.answer(200, {"kind": "ItemList", "apiVersion": "v1", "items": list(rows())})
            return
        name = unquote(path.removeprefix(f"{ITEMS}/"))
        row = rows().get(name) if path.startswith(f"{ITEMS}/") else None
        if row is None:
            self.answer(404, {"error": "there is no such item"})
        else:
            self.answer(200, {"kind": "Item", "apiVersion": "v1", "data": row})

    def answer(self, status: int, body: dict[str, object]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


# Loopback alone: only the manager beside it in the pod may ask.
ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Handler).serve_forever()
