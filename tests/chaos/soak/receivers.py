"""Receivers of webhooks as a process: most refuse a tenth, one is a tarpit; each arrival is a line of a file.

``python -m tests.chaos.soak.receivers FILE SEED``: prints its ports, then reads from its input the secrets of them all.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import time
from pathlib import Path
from random import Random

from standardwebhooks import Webhook, WebhookVerificationError

HEALTHY = 4
"""That answer, and refuse some of what comes first; the last receiver is the tarpit."""
REFUSED_SHARE = 0.1
TARPIT_S = 30.0
"""How long the tarpit says nothing: longer than the service waits."""


class Receivers:
    """All receivers."""

    def __init__(self, path: Path, seed: int) -> None:
        self._log = path.open("w", buffering=1)
        self._seed = seed
        self._seen: set[str] = set()
        self.secrets: list[Webhook] = []

    async def take(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one delivery."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = (line.split(b":", 1) for line in head.split(b"\r\n")[1:] if line)
            headers = {name.decode().lower(): value.decode().strip() for name, value in lines}
            body = await reader.readexactly(int(headers["content-length"]))
            status = self._choose_status(number, headers["webhook-id"])
            self._note(number, headers, body, status)
            if status is None:
                await asyncio.sleep(TARPIT_S)
            else:
                writer.write(b"HTTP/1.1 %d Said\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            return  # the worker was killed
        finally:
            writer.transport.abort() if writer.is_closing() else writer.close()

    def _choose_status(self, number: int, event_id: str) -> int | None:
        if number == HEALTHY:
            return None
        is_first = event_id not in self._seen
        self._seen.add(event_id)
        refuses = is_first and Random(f"{self._seed} {event_id}").random() < REFUSED_SHARE
        return 503 if refuses else 200

    def _note(self, number: int, headers: dict[str, str], body: bytes, status: int | None) -> None:
        try:
            self.secrets[number].verify(body, headers)
            is_signed = True
        except WebhookVerificationError:
            is_signed = False
        line = {
            "at": time.time(),
            "receiver": number,
            "id": headers["webhook-id"],
            "body": hashlib.sha256(body).hexdigest(),
            "status": status,
            "is_signed": is_signed,
        }
        self._log.write(json.dumps(line) + "\n")


async def serve(path: Path, seed: int) -> None:
    """Listen until the input ends."""
    receivers = Receivers(path, seed)
    servers = []
    for number in range(HEALTHY + 1):

        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int = number) -> None:
            await receivers.take(number, reader, writer)

        servers.append(await asyncio.start_server(take, "127.0.0.1", 0, backlog=1024))
    print(json.dumps([server.sockets[0].getsockname()[1] for server in servers]), flush=True)
    loop = asyncio.get_running_loop()
    secrets = json.loads(await loop.run_in_executor(None, sys.stdin.readline))
    receivers.secrets = [Webhook(secret) for secret in secrets]
    await loop.run_in_executor(None, sys.stdin.read)
    for server in servers:
        server.close()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1]), int(sys.argv[2])))
