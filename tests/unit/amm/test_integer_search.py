"""The integer searches, against a scan of every input."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from routing_engine.amm.integer_search import greatest_input, least_input

OUTPUTS = st.lists(st.integers(0, 3), min_size=1, max_size=60)


@given(steps=OUTPUTS, wanted=st.integers(0, 120), guess=st.integers(-5, 80))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_least_input_equals_a_scan(steps, wanted, guess):
    outputs = [sum(steps[: x + 1]) for x in range(len(steps))]
    scan = next((x for x in range(1, len(outputs)) if outputs[x] >= wanted), None)
    assert least_input(lambda x: outputs[x], wanted, guess, len(outputs) - 1) == scan


def test_a_good_guess_is_short():
    calls = []

    def gives(x):
        calls.append(x)
        return x // 3

    assert least_input(gives, 10**30, 3 * 10**30 + 100, 10**40) == 3 * 10**30
    assert len(calls) < 25


@given(bound=st.integers(3, 1000), high=st.integers(3, 1000), slack=st.sampled_from((0.0, 0.01, 0.3)))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_greatest_input_is_at_most_the_slack_too_small(bound, high, slack):
    found = greatest_input(lambda x: x <= bound, 3, high, slack)
    assert min(bound, high) * (1 - slack) - 1e-9 <= found <= min(bound, high)
