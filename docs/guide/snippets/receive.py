"""A receiver of webhooks with nothing but Python's own library: WEBHOOK_SECRET=whsec_… python receive.py."""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ.get("WEBHOOK_SECRET") or sys.exit(
    "Set WEBHOOK_SECRET to the webhook's secret (whsec_…): without it no delivery can be checked."
)
TOLERANCE_S = 300


# --8<-- [start:verify]
def verify(body: bytes, headers: Mapping[str, str], secret: str) -> dict:
    """Return the event of a delivery; ValueError unless the service sent it, just now and just so."""
    key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    event_id, sent, given = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if len(key) < 16 or not event_id or not sent.isdecimal():
        raise ValueError("a header is missing, or this is no secret")
    signed = f"{event_id}.{sent}.".encode() + body
    right = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # Two secrets sign while one replaces the other: one of the signatures has to be right.
    if not any(hmac.compare_digest(each.encode(), right.encode()) for each in given.split()):
        raise ValueError("no signature is right")
    if abs(time.time() - int(sent)) > TOLERANCE_S:
        raise ValueError("it was sent too long ago")
    return json.loads(body)["event"]


# --8<-- [end:verify]


class Receiver(BaseHTTPRequestHandler):
    """Answers 204 to what the service sent, and 400 to everything else."""

    def do_POST(self) -> None:
        """Read the body as it came, to the byte."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            event = verify(body, self.headers, SECRET)
        except ValueError as error:
            return self.answer(400, f"refused: {error}")
        data = event["data"]
        return self.answer(204, f"{event['type']} {data['payment_order_id']} {data['payment_order_status']}")

    def answer(self, status: int, line: str) -> None:
        """Answer at once; what takes long is done afterwards."""
        print(line, flush=True)
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing else."""


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "3000"))), Receiver).serve_forever()
