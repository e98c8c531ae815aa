"""Shares spread evenly over workers that come and go, and the giving ends."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from api.domain.duties import Duty, find_duty, name_share
from api.worker.balance import choose_surplus, is_next

MOST_STEPS = 400


def make_shares(chains: int, parts: int) -> list[str]:
    single = [str(duty) for duty in (Duty.EXPIRY, Duty.SOURCES, Duty.HOUSEKEEPING)]
    return [
        *(name_share(Duty.CHAINS, f"live/{number}") for number in range(chains)),
        *(name_share(Duty.WEBHOOKS, str(number)) for number in range(parts)),
        *single,
    ]


def spread(held: dict[str, set[str]], shares: list[str], dice: Random) -> int:
    """Let workers act one by one in any order, as they do, until nothing happens; return how often one gave."""
    given = 0
    for _ in range(MOST_STEPS):
        is_calm = True
        for me in dice.sample(sorted(held), len(held)):
            for share in [each for each in shares if not any(each in other for other in held.values())]:
                if is_next(share, me, held):
                    held[me].add(share)
                    is_calm = False
            on_its_way = {find_duty(each) for each in set(shares).difference(*held.values())}
            surplus = choose_surplus(me, held, [each for each in held[me] if find_duty(each) not in on_its_way])
            if surplus is not None:
                held[me].remove(surplus)
                given += 1
                is_calm = False
        if is_calm:
            return given
    raise AssertionError(f"it goes on forever: {held}")


@given(st.integers(1, 40), st.integers(1, 8), st.integers(1, 7), st.integers(0, 6), st.randoms(use_true_random=False))
def test_however_workers_come_and_go_all_have_about_as_much(
    chains: int, parts: int, before: int, gone: int, dice: Random
) -> None:
    shares = make_shares(chains, parts)
    held: dict[str, set[str]] = {"worker/0": set()}
    spread(held, shares, dice)
    held |= {f"worker/{number}": set() for number in range(1, before)}
    spread(held, shares, dice)
    for name in sorted(held)[: min(gone, before - 1)]:
        del held[name]
    spread(held, shares, dice)
    everything = [share for mine in held.values() for share in mine]
    assert sorted(everything) == sorted(shares), "each share is held, and once"
    for duty in Duty:
        counts = [sum(find_duty(share) == duty for share in mine) for mine in held.values()]
        assert max(counts) - min(counts) <= 1, (duty, held)
    totals = [len(mine) for mine in held.values()]
    assert max(totals) - min(totals) <= 2, held


def test_a_second_worker_is_given_half_and_hardly_more() -> None:
    shares = make_shares(12, 4)
    held: dict[str, set[str]] = {"worker/a": set(shares), "worker/b": set()}
    assert len(shares) // 2 <= spread(held, shares, Random(1)) <= len(shares) // 2 + 1


def test_what_must_stay_is_not_given() -> None:
    held = {"worker/a": {"chains/live/1", "chains/live/10"}, "worker/b": set()}
    assert choose_surplus("worker/a", held, ["chains/live/10"]) == "chains/live/10"
    assert choose_surplus("worker/a", held, []) is None
