"""What is looked at every second while a run goes on: memory, processor time, and what waits."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field

import psutil
import psycopg

from tests.chaos.soak.deployment import SPARED, Deployment

EVERY_S = 1.0
WAITING = """
SELECT count(*) FILTER (WHERE d.next_attempt_at <= now() AND d.subscription_id <> %(tarpit)s),
       count(*) FILTER (WHERE d.next_attempt_at <= now() AND d.subscription_id = %(tarpit)s)
  FROM webhook_deliveries d WHERE d.status = 'pending'
"""
UNSETTLED = "SELECT count(*) FROM payment_orders WHERE status = 'processing'"


@dataclass
class Samples:
    """Series by name; moments are seconds since the run began."""

    memory_mb: defaultdict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    queues: defaultdict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    cpu_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Processor seconds by kind of process, dead ones included."""

    def find_slope(self, name: str, after_s: float, until_s: float) -> tuple[float, float] | None:
        """Fit a line to the memory of a process between two moments; return MB at the first, and MB more a minute."""
        points = [(at_s, value) for at_s, value in self.memory_mb[name] if after_s <= at_s < until_s]
        if len(points) < 10:
            return None
        mean_t = sum(at for at, _ in points) / len(points)
        mean_v = sum(value for _, value in points) / len(points)
        spread = sum((at - mean_t) ** 2 for at, _ in points)
        slope = sum((at - mean_t) * (value - mean_v) for at, value in points) / spread
        return mean_v + slope * (points[0][0] - mean_t), slope * 60


class Sampler:
    """A thread that looks."""

    def __init__(self, deployment: Deployment, tarpit: str, began: float) -> None:
        self._deployment, self._tarpit, self._began = deployment, tarpit, began
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler")
        self._last_cpu: dict[tuple[int, float], float] = {}
        self._spent_before = time.process_time()
        self.samples = Samples()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """Look no more."""
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ending.wait(EVERY_S):
            at_s = time.monotonic() - self._began
            for name, processes in self._deployment.list_observed().items():
                self._look_at(name, processes, at_s)
            self.samples.cpu_s["client"] = time.process_time() - self._spent_before
            self._count_waiting(at_s)

    def _look_at(self, name: str, processes: list[psutil.Process], at_s: float) -> None:
        total = 0.0
        for process in processes:
            try:
                key = (process.pid, process.create_time())
                spent = sum(process.cpu_times()[:2])
                total += process.memory_info().rss / 1e6
            except psutil.Error:
                continue
            self.samples.cpu_s[name.split("-")[0]] += spent - self._last_cpu.get(key, 0.0)
            self._last_cpu[key] = spent
        if name in SPARED or "-" not in name:
            self.samples.memory_mb[name].append((at_s, total))

    def _count_waiting(self, at_s: float) -> None:
        try:
            with psycopg.connect(self._deployment.machine.place, connect_timeout=2) as connection:
                connection.execute("SET statement_timeout = 2000")
                row = connection.execute(WAITING, {"tarpit": self._tarpit}).fetchone() or (0, 0)
                settled = connection.execute(UNSETTLED).fetchone() or (0,)
        except psycopg.Error:
            return  # killed, or stopped
        for name, value in zip(("deliveries due", "of the tarpit", "orders being paid"), (*row, *settled), strict=True):
            self.samples.queues[name].append((at_s, value))
