"""A budget of time: kernels read no clock, so they get as many steps as fit into what is left of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine import RouteRequest
from routing_engine.deadline import SLOWEST, STEPS, Budget
from routing_engine.kernels.work import GRACE
from tests.unit.engine.test_work_budget import AFTERWARDS, FORTUNE, WORST, get_router

EVER = 10**15
"""Steps that no search here comes to."""


class Machine:
    """A machine on which time passes by what was done alone, at so many steps a millisecond."""

    def __init__(self, pace: float) -> None:
        self.pace, self.budgets = pace, list[Budget]()

    def read_clock(self) -> float:
        return self.count_steps() / self.pace / 1e3

    def count_steps(self) -> int:
        return sum(EVER - budget.steps_left for budget in self.budgets)


@pytest.fixture(params=[1, 4], ids=["usual", "four times slower"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(STEPS / request.param)

    class Noted(Budget):
        def __init__(self, clock: object, limit_ms: float, steps: int, pace: float) -> None:
            super().__init__(machine.read_clock, limit_ms, EVER, pace)
            machine.budgets.append(self)

    monkeypatch.setattr("routing_engine.router.Budget", Noted)
    return machine


@pytest.mark.parametrize("request_", WORST.values(), ids=WORST)
@pytest.mark.parametrize("limit_ms", [5, 20, 100])
def test_an_answer_takes_about_the_time_it_was_given(request_: RouteRequest, limit_ms: int, machine: Machine) -> None:
    result = get_router().find_routes(replace(request_, work_budget=None, time_budget_ms=limit_ms))
    assert result.routes
    assert not result.is_complete
    # Before there is a pace, a division gets all that is left at the usual one.
    given = limit_ms * STEPS
    assert machine.count_steps() <= given + GRACE + AFTERWARDS
    assert machine.count_steps() >= given * machine.pace / STEPS / 2


def test_a_long_time_changes_nothing_and_is_not_work(machine: Machine) -> None:
    """What is tried is decided by counted steps alone, however many kernels were given at a time."""
    request = replace(FORTUNE, amount=10**11, work_budget=None)
    free = get_router().find_routes(replace(request, time_budget_ms=None))
    timed = get_router().find_routes(replace(request, time_budget_ms=60_000))
    assert timed.is_complete
    assert timed.routes == free.routes


def test_steps_are_lent_by_the_time_that_is_left_and_the_pace() -> None:
    now = 0.0
    budget = Budget(lambda: now, 10, steps=10_000, pace=200)
    assert (budget.is_spent(), budget.work[0], budget.steps_left) == (False, 2_001, 10_000)
    budget.spend(1_000)
    now = 0.005
    assert not budget.is_spent()
    assert budget.work[0] == pytest.approx(5 * 200 + 1)
    now = 0.0075
    assert not budget.is_spent()  # a thousand steps in 7.5 ms: slower than usual
    assert budget.work[0] == pytest.approx(333, abs=2)
    assert budget.steps_left == 9_000
    now = 0.009
    assert not budget.is_spent()
    assert budget.work[0] == pytest.approx(111, abs=2)


def test_a_kernel_that_had_too_little_ends_nothing_while_there_is_time() -> None:
    """Much time may have passed outside of kernels, and their pace seems low then; the answer says that it was cut."""
    now = 0.0
    budget = Budget(lambda: now, 100, steps=10**9, pace=200)
    now = 0.01
    assert not budget.is_spent()
    assert budget.work[0] == 90 * 200 / SLOWEST + 1
    budget.spend(int(budget.work[0]))
    assert not budget.is_spent()
    assert budget.work[0] > 4_000
    assert budget.was_spent
    now = 0.1
    assert budget.is_spent()


def test_time_that_is_over_ends_what_work_is_left_for() -> None:
    now = 0.0
    budget = Budget(lambda: now, 10)
    assert not budget.is_spent()
    now = 0.0101
    assert budget.is_spent()
    now = 0.0
    assert budget.was_spent
