"""The simulated ledger: chains whose blocks and transfers live in the database, for orders in test mode."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from api.domain.transfers import TransferKind
from api.storage.base import Base
from api.storage.types import BigKey, Uint256


class SimulatedChain(Base):
    """How far a simulated chain has been read.

    A block is a quarter of a second of the clock; a block that was once given out as the head is closed for good,
    and locking this row keeps writers and the reader of the head apart.
    """

    __tablename__ = "sim_chains"

    chain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    head_number: Mapped[int] = mapped_column(BigInteger)


class SimulatedReorg(Base):
    """A reorganisation: every block from `first_number` on has another hash since."""

    __tablename__ = "sim_reorgs"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    chain_id: Mapped[int] = mapped_column(BigInteger)
    first_number: Mapped[int] = mapped_column(BigInteger)
    at: Mapped[datetime]

    __table_args__ = (Index(None, "chain_id", "first_number"),)


class SimulatedTransfer(Base):
    """A token transfer in a simulated block.

    One that a reorganisation removed stays, and is no longer canonical. `reference` is what the payer appended to the
    calldata. The chain reorganises itself as soon as a transfer with `reorg_when_seen` has been shown to a reader.
    """

    __tablename__ = "sim_transfers"

    chain_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    block_hash: Mapped[str] = mapped_column(String(66), primary_key=True)
    tx_hash: Mapped[str] = mapped_column(String(66), primary_key=True)
    log_index: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    block_number: Mapped[int] = mapped_column(BigInteger)
    kind: Mapped[str] = mapped_column(String(16), default=TransferKind.PAYMENT)
    token_address: Mapped[str] = mapped_column(String(42))
    sender: Mapped[str] = mapped_column(String(42))
    recipient: Mapped[str] = mapped_column(String(42))
    amount: Mapped[int] = mapped_column(Uint256)
    reference: Mapped[bytes | None] = mapped_column(LargeBinary(16), index=True)
    source_chain_id: Mapped[int | None] = mapped_column(BigInteger)
    source_tx_hash: Mapped[str | None] = mapped_column(String(66))
    is_canonical: Mapped[bool] = mapped_column(default=True)
    reorg_when_seen: Mapped[bool] = mapped_column(default=False)

    __table_args__ = (
        Index(None, "chain_id", "block_number"),
        Index(None, "chain_id", "tx_hash"),
        Index(None, "reorg_when_seen", "chain_id"),
    )
