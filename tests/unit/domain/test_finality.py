"""When a block is final, as whoever has to wait for it is told."""

from __future__ import annotations

from api.domain.confirmations import FINAL_AFTER_S, SIMULATED_FINAL_AFTER_S, SOONEST_S, estimate_final_in_s
from api.services.simulator.chain import BLOCK_TIME, FINALITY_BLOCKS
from routing_engine.reference.chains import CHAINS


def test_it_is_what_the_chain_still_takes() -> None:
    usual_s = CHAINS[1].final_after_s
    assert estimate_final_in_s(1, 0, is_simulated=False) == usual_s + 1
    assert estimate_final_in_s(1, 60.5, is_simulated=False) == usual_s - 59
    assert estimate_final_in_s(1, 10 * usual_s, is_simulated=False) == SOONEST_S
    assert estimate_final_in_s(987_654_321, 0, is_simulated=False) == FINAL_AFTER_S + 1
    assert estimate_final_in_s(1, 0, is_simulated=True) == SIMULATED_FINAL_AFTER_S + 1


def test_the_simulated_chains_take_as_long_as_is_said() -> None:
    assert (BLOCK_TIME * FINALITY_BLOCKS).total_seconds() == SIMULATED_FINAL_AFTER_S
