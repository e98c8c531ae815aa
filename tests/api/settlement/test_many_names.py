"""Calls of strangers name whatever they like: a look at a chain may find more names than a statement takes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from api.domain.env import EnvMode
from api.domain.transfers import CanonicalBlock, Naming, Transfer, TransferKind
from api.services.settlement.crediting.matching import match_transfers
from tests.support.databases import DIALECTS, Databases

MERCHANT, THIEF = f"0x{1:040x}", f"0x{2:040x}"
BLOCK = CanonicalBlock(number=1, hash=f"0x{1:064x}", mined_at=datetime(2026, 1, 1, tzinfo=UTC))


def make_transfer(number: int, *, names: int) -> Transfer:
    return Transfer(
        kind=TransferKind.PAYMENT, chain_id=8453, block=BLOCK, tx_hash=f"0x{number:064x}", log_index=0,
        token_address=f"0x{3:040x}", sender="", recipient=MERCHANT, amount=1,
        namings=tuple(
            Naming(reference=(number * names + each).to_bytes(16), is_own=False, caller=THIEF) for each in range(names)
        ),
    )  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_however_many_names_a_look_finds_it_is_read(databases: Databases, dialect: str) -> None:
    """A driver takes 65,535 values in a statement: 2,100 units of dollars, each sent within 32 calls, had more."""
    transfers = [make_transfer(number, names=32) for number in range(2_100)]
    with databases.lend(dialect) as database, database.read() as session:
        found = match_transfers(session, EnvMode.LIVE, transfers, {MERCHANT})
    assert [each.transfer for each in found] == transfers
    assert {each.order_id for each in found} == {None}
