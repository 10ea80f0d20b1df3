"""Prints what is posted to it, path and body, in a line for each: `posts.py 127.0.0.1:8080`."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

host, _, port = sys.argv[1].rpartition(":")


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        sys.stdout.write(f"{self.path} {body.decode(errors='replace')}\n")
        sys.stdout.flush()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments: object) -> None: ...


ThreadingHTTPServer((host, int(port)), Handler).serve_forever()
