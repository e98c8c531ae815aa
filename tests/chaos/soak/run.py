"""A run from its begin to its verdict."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import requests

from api.domain.env import EnvMode
from api.services.vendors.vendors import create_vendor
from tests.chaos.soak.checks import (
    GROWTH,
    GROWTH_MB,
    Verdict,
    count_waiting,
    judge_orders,
    judge_webhooks,
    read_arrivals,
)
from tests.chaos.soak.customers import Customers, Results, Shop
from tests.chaos.soak.deployment import SPARED, Deployment
from tests.chaos.soak.plan import Fault, Plan
from tests.chaos.soak.receivers import HEALTHY
from tests.chaos.soak.sampler import Sampler, Samples
from tests.support.servers import wait_until

QUIET_SHOPS = 3
DRAIN_S = 120.0
"""How long deliveries may go on after the last order: what was under way at a kill is sent after its lease of 45 s."""


@dataclass
class Run:
    """What a run has shown; `done` are the faults as they came, with the process and the second."""

    plan: Plan
    results: Results
    samples: Samples
    verdict: Verdict
    done: list[tuple[float, Fault, str]] = field(default_factory=list)
    tarpit: str = ""

    @property
    def kills(self) -> Counter[str]:
        """How many kills each part got."""
        return Counter(fault.part.value for _, fault, _ in self.done if not fault.lasts_s)

    @property
    def stops(self) -> Counter[str]:
        """How often each part was stopped."""
        return Counter(fault.part.value for _, fault, _ in self.done if fault.lasts_s)


def run_soak(plan: Plan, folder: Path) -> Run:
    """Do what a plan says, with its files in a folder; return what came of it."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "arrivals.jsonl"
    with Deployment(folder) as deployment, _receivers(log, plan.seed) as (ports, trust):
        shops, subscriptions = _open_shops(deployment, ports, trust)
        healthy, tarpit = subscriptions[:HEALTHY], subscriptions[HEALTHY]
        customers = Customers(plan, shops, deployment.apis, deployment.stream)
        began = time.monotonic()
        sampler = Sampler(deployment, tarpit, began)
        run = Run(plan, customers.results, sampler.samples, Verdict(), tarpit=tarpit)
        sampler.start()
        havoc = threading.Thread(target=_wreak_havoc, args=(run, deployment, began), name="chaos")
        havoc.start()
        try:
            asyncio.run(customers.run())
        finally:
            havoc.join()
        judge_orders(run.verdict, deployment.database, customers.results, deployment.secret_key)
        _drain(deployment, healthy)
        sampler.end()
        judge_webhooks(run.verdict, deployment.database, read_arrivals(log), healthy)
    _judge_memory(run)
    return run


def _open_shops(deployment: Deployment, ports: list[int], trust: subprocess.Popen[str]) -> tuple[list[Shop], list[str]]:
    """Make vendors: some without webhooks, one for each receiver, and subscribe those."""
    now = datetime.now(UTC)
    with deployment.database.write() as session:
        names = [f"Quiet {number}" for number in range(QUIET_SHOPS)] + [
            f"Told {number}" for number in range(len(ports))
        ]
        keys = [create_vendor(session, name, now).keys[EnvMode.TEST] for name in names]
    shops, subscriptions, secrets = [Shop(key) for key in keys[:QUIET_SHOPS]], [], []
    url = f"http://127.0.0.1:{deployment.apis[0].port}/api/v1/webhook_subscription"
    for number, (key, port) in enumerate(zip(keys[QUIET_SHOPS:], ports, strict=True)):
        body = {"webhook_url": f"http://127.0.0.1:{port}/hook", "env_mode": "test"}
        answer = requests.post(url, json=body, headers={"X-Api-Key": key}, timeout=30)
        answer.raise_for_status()
        data = answer.json()["data"]
        shops.append(Shop(key, receiver=number))
        subscriptions.append(data["webhook_id"])
        secrets.append(data["secret"])
    if trust.stdin is None:
        raise TypeError("the receivers have no input")
    trust.stdin.write(json.dumps(secrets) + "\n")
    trust.stdin.flush()
    return shops, subscriptions


@contextmanager
def _receivers(log: Path, seed: int) -> Iterator[tuple[list[int], subprocess.Popen[str]]]:
    """Run the receivers; give their ports, and the process that reads their secrets."""
    command = [sys.executable, "-m", "tests.chaos.soak.receivers", str(log), str(seed)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout is None:
            raise TypeError("the receivers have no output")
        yield json.loads(process.stdout.readline()), process
    finally:
        process.kill()
        process.communicate()


def _wreak_havoc(run: Run, deployment: Deployment, began: float) -> None:
    """Do each fault at its moment, or once the one before is done; what stands still goes on by itself."""
    dice, pause, timers = Random(run.plan.seed), threading.Event(), []
    for fault in run.plan.faults:
        pause.wait(max(0.0, began + fault.at_s - time.monotonic()))
        names = deployment.name_candidates(fault.part, None if fault.lasts_s else fault.at_s / run.plan.seconds)
        name = dice.choice(names)
        run.done.append((time.monotonic() - began, fault, name))
        if fault.lasts_s:
            deployment.send(name, signal.SIGSTOP)
            timers.append(threading.Timer(fault.lasts_s, deployment.send, (name, signal.SIGCONT)))
            timers[-1].start()
        else:
            deployment.kill(name)
    for timer in timers:
        timer.join()


def _drain(deployment: Deployment, healthy: list[str]) -> None:
    """Wait until nothing is under way to healthy receivers, or for as long as it may take."""
    end = time.monotonic() + DRAIN_S
    wait_until(
        lambda: time.monotonic() > end or count_waiting(deployment.database, healthy) == 0, "deliveries have ended"
    )


def _judge_memory(run: Run) -> None:
    """See whether a process has grown after the first third of the time in which it was not killed."""
    for name, share in SPARED.items():
        until_s = share * run.plan.seconds
        fitted = run.samples.find_slope(name, until_s / 3, until_s)
        if fitted is None:
            continue
        level, slope = fitted
        growth = slope * until_s * 2 / 3 / 60
        run.verdict.figures[f"memory_{name}_mb"] = level
        run.verdict.figures[f"memory_{name}_mb_a_minute"] = slope
        run.verdict.expect(
            growth <= max(GROWTH * level, GROWTH_MB), f"{name} has grown by {growth:.0f} MB from {level:.0f} MB"
        )
