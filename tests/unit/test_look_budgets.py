"""What a look spends on strangers' transactions, and what it need not read again."""

from __future__ import annotations

from api.domain.watched import Watched
from api.services.ledger import look_budgets
from api.services.ledger.look_budgets import LookBudget, ReadBefore, take_turns

ONE, OTHER = "0x" + "11" * 20, "0x" + "22" * 20


def test_the_first_of_each_comes_before_the_second_of_any() -> None:
    assert take_turns(["a1", "a2", "a3", "b1", "c1", "c2"], lambda item: item[0]) == [
        "a1",
        "b1",
        "c1",
        "a2",
        "c2",
        "a3",
    ]


def test_one_takes_his_share_and_leaves_the_rest() -> None:
    budget = LookBudget()
    taken = [budget.take_trace(ONE) for _ in range(look_budgets.TRACES_A_LOOK)]
    assert taken.count(True) == look_budgets.TRACES_OF_ONE
    assert budget.take_trace(OTHER)
    received = [budget.take_receipt(ONE) for _ in range(look_budgets.RECEIPTS_A_LOOK)]
    assert received.count(True) == look_budgets.RECEIPTS_OF_ONE
    assert budget.take_receipt(OTHER)


def test_a_trace_that_takes_long_ends_the_traces_of_a_look() -> None:
    budget = LookBudget()
    assert not budget.note_trace(look_budgets.USUAL_TRACE_S)
    assert budget.take_trace(ONE)
    assert budget.note_trace(look_budgets.USUAL_TRACE_S + look_budgets.PATIENCE_S)
    assert not budget.take_trace(ONE)


def test_payments_that_were_written_down_have_a_trace_each() -> None:
    budget = LookBudget(is_generous=True)
    assert all(budget.take_trace(ONE) for _ in range(10 * look_budgets.TRACES_A_LOOK))


def test_what_was_read_for_fewer_addresses_is_read_again() -> None:
    before = ReadBefore()
    before.begin(Watched.at([ONE]))
    before.note("0xa", "0xb")
    before.begin(Watched.at([ONE]))
    assert before.has("0xa", "0xb")
    assert not before.has("0xa", "0xc"), "another block has it now"
    before.begin(Watched.at([ONE, OTHER]))
    assert not before.has("0xa", "0xb")
