"""A receiver of webhooks on a port of its own, which does with each request what a test says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def listen(take: Callable[[bytes, Mapping[str, str]], int]) -> Iterator[str]:
    """Answer requests until the block ends; give the address.

    Parameters
    ----------
    take : callable
        Takes a body and the headers, by their names in lower case; returns the status. Called by many threads.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(take(body, {name.lower(): value for name, value in self.headers.items()}))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # a killed worker breaks its connections
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
