"""A source after the book's listing, with its mistakes put right: the two addresses alone, over a folder.

The listing read a folder by a name with `*.mp4` in it, which is no folder; it answered every address with the
list, and none with an item; it left a request without an answer where there were no files; and it listened
everywhere.

usage: plain_source.py PORT FOLDER
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote

ITEMS = "/api/v1/items"


def handler(folder: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            films = sorted(path.name for path in folder.glob("*.mp4"))
            if self.path == ITEMS:
                self.answer(200, {"kind": "ItemList", "apiVersion": "v1", "items": films})
                return
            name = unquote(self.path.removeprefix(f"{ITEMS}/"))
            if self.path == f"{ITEMS}/{quote(name, safe='')}" and name in films:
                self.answer(200, {"kind": "Item", "apiVersion": "v1", "data": {"file": str(folder / name)}})
            else:
                self.answer(404, None)

        def answer(self, status: int, body: object) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    return Handler


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), handler(Path(sys.argv[2]))).serve_forever()
