"""The whole service on one machine, for trying it: API and worker as child processes."""

from __future__ import annotations

import gc
import http.client
import signal
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from http import HTTPStatus
from importlib import import_module
from multiprocessing.context import ForkProcess
from types import FrameType

import click

from api.config import Config
from api.counting.shared_metrics import share_metrics
from api.domain.env import EnvMode
from api.domain.errors import ServiceUnavailable
from api.doubtful_settings import log_doubts
from api.logs import configure_logging
from api.services.market.market import NoMarket
from api.services.orders.commands import NewLink, create_link
from api.services.resources import Resources
from api.services.vendors.vendors import find_vendor
from api.serving.ports import require_free_port
from api.startup.demo_key import DEMO_VENDOR, DemoKey, keep_demo_key
from api.startup.parts import fork_part
from api.startup.start_checks import check_start
from api.storage.migrations import upgrade

PARTS = ("serve", "worker", "worker")
"""Of the two workers each does what the other leaves undone when it hangs or is killed."""
STANDING_IN = "worker"
"""A part that is started again when it ends, since another of its kind goes on meanwhile."""
LOADED = ("api.serving.server", "api.worker.process")
"""What the parts need. They are forked from this process, so it is loaded and in memory once."""
EVERY_INTERFACE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - recognised, not bound
START_S = 60
STOP_S = 15
LOOK_S = 0.1


def run_all(resources: Resources, run: Callable[[str], object]) -> int:
    """Start everything, tell the user how to reach it, and end it all together.

    Parameters
    ----------
    run : callable
        Runs the command of a part, in a process of its own.

    Returns
    -------
    int
        Exit status: 0 after Ctrl-C or SIGTERM, 1 when a part of the service ended by itself.
    """
    require_free_port(resources.config)
    upgrade(resources.database.engine)
    check_start(resources)
    configure_logging(resources.config.log_level)
    log_doubts(resources.config)
    _require_market(resources)
    key = keep_demo_key(resources)
    payment_url = None if resources.config.test_rpc_urls else make_demo_link(resources)
    resources.database.close()
    stopping = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    with share_metrics(resources.config.web_workers):  # whether they count together, is decided as they are loaded
        for module in LOADED:
            import_module(module)
    gc.collect()
    gc.freeze()  # a collection would write to all objects, and so copy them for each part
    start = partial(_start, run)
    children = [start(command) for command in PARTS]
    try:
        if not _wait_until_ready(resources.config, children, stopping):
            return _choose_status(children, stopping)
        for line in write_welcome(resources.config, key, payment_url):
            click.echo(line)
        while not stopping.wait(LOOK_S) and _are_all_alive(children):
            _replace_killed(children, start)
        return _choose_status(children, stopping)
    finally:
        _end(children)


def _require_market(resources: Resources) -> None:
    """Refuse to start a service whose pages could offer nothing; of what is live, more may come."""
    try:
        resources.market.require_market()
    except NoMarket as error:
        raise ServiceUnavailable(f"The market can't be loaded: {error.reason}") from error


def make_demo_link(resources: Resources) -> str:
    """Make a test order of the demo vendor and return the URL of its payment page."""
    shop = f"{resources.config.base_url}/docs"
    link = NewLink(
        line_items=(
            {"title": "Darjeeling, first flush", "quantity": 2, "description": "100 g, whole leaf"},
            {"title": "Teapot", "quantity": 1},
        ),
        order_price={"currency": "USDC", "amount": 42_500_000, "decimals": 6},
        env_mode=EnvMode.TEST,
        success_callback_url=shop,
        cancel_callback_url=shop,
        failure_callback_url=shop,
        metadata={"cart": "demo"},
    )
    with resources.database.read() as session:
        vendor_id = find_vendor(session, DEMO_VENDOR).id
    return str(create_link(resources, vendor_id, link)["payment_url"])


def write_welcome(config: Config, key: DemoKey, payment_url: str | None) -> list[str]:
    """Compose what a new user needs to know; the service answers already."""
    page = payment_url or "none: the demo shop receives on no chain of TEST_RPC_URLS (checkout settlement set)"
    return [
        f"API:           {config.base_url}  (described at {config.base_url}/docs)",
        f"Test API key:  {key.text}",
        *([f"               {key.note}"] if key.note else []),
        f"Payment page:  {page}",
        "Ctrl-C ends it.",
    ]


def _start(run: Callable[[str], object], command: str) -> ForkProcess:
    return fork_part(command, partial(run, command))


def _wait_until_ready(config: Config, children: Sequence[ForkProcess], stopping: threading.Event) -> bool:
    """Wait until the API is ready; False if something ended or the user lost patience."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and _are_all_alive(children):
        if _is_ready(config):
            return True
        if stopping.wait(LOOK_S):
            return False
    if _are_all_alive(children):
        raise ServiceUnavailable(f"The API did not answer within {START_S} s")
    return False


def _is_ready(config: Config) -> bool:
    host = "127.0.0.1" if config.host in EVERY_INTERFACE else config.host
    connection = http.client.HTTPConnection(host, config.port, timeout=1)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def _are_all_alive(children: Sequence[ForkProcess]) -> bool:
    """Whether nothing has ended that can't be replaced."""
    pairs = zip(PARTS, children, strict=True)
    return all(child.exitcode is None or _find_killer(part, child) is not None for part, child in pairs)


def _find_killer(part: str, child: ForkProcess) -> int | None:
    """Return the signal that killed a worker. One that ends by itself has a reason, and would end again."""
    status = child.exitcode
    return -status if part == STANDING_IN and status is not None and status < 0 else None


def _replace_killed(children: list[ForkProcess], start: Callable[[str], ForkProcess]) -> None:
    for number, (part, child) in enumerate(zip(PARTS, children, strict=True)):
        killer = _find_killer(part, child)
        if killer is not None:
            click.echo(f"`checkout {part}` was killed by signal {killer}; it is started again.", err=True)
            children[number] = start(part)


def _choose_status(children: Sequence[ForkProcess], stopping: threading.Event) -> int:
    if stopping.is_set():
        return 0
    for part, child in zip(PARTS, children, strict=True):
        if child.exitcode is not None:
            click.echo(f"`checkout {part}` ended with status {child.exitcode}.", err=True)
    return 1


def _end(children: Sequence[ForkProcess]) -> None:
    for child in children:
        child.terminate()
    for child in children:
        child.join(STOP_S)
        if child.is_alive():
            child.kill()
            child.join()
