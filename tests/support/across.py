"""Across between two local chains: what its relayers confirm, and what they do."""

from __future__ import annotations

from dataclasses import dataclass, replace

from eth_abi import encode
from eth_utils import keccak
from sqlalchemy import select

from adapters.base import FirmQuote
from adapters.chain.deployments import read_deployments
from api.domain.ids import IdPrefix, make_id
from api.services.settlement.crediting.built_deposits import describe_build, remember_build
from api.storage.tables import PaymentOrder, StoredQuote
from routing_engine.markets import BridgeLane
from routing_engine.model import Hop
from tests.support.evm import ACTOR
from tests.support.main_net import MainNet
from tests.support.settlement import PRICE, ChainShop, Wallet

BASE, ETHEREUM = 8453, 1
LIFE_S = 3600
"""How long relayers may take."""
PAID = PRICE + 1_000
"""What a customer deposits for a dollar: the relayer keeps the rest."""
NOBODY = "0x" + "00" * 20
DEPOSIT_TOPICS = 4


@dataclass
class Relayers:
    """Confirm a lane's terms; `worse_by` is what they keep more by now, in millionths."""

    lane: BridgeLane
    net: MainNet
    worse_by: int = 0

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        made, _ = self.lane.swap_exact_in(hop.token_in, hop.token_out, hop.amount_in)
        made = replace(made, amount_out=made.amount_out * (10**6 - self.worse_by) // 10**6)
        now = int(self.net.chain.now())
        (pool,) = (row.get_address("spoke_pool") for row in read_deployments("across", hop.token_in.chain_id))
        moments = {"timestamp": now, "fillDeadline": now + 20_000, "exclusivityDeadline": 0}
        return FirmQuote(hop=made, terms={**moments, "exclusiveRelayer": NOBODY, "spokePoolAddress": pool})


def fill(origin: MainNet, destination: MainNet, tx_hash: str) -> str:
    """Do what relayers do: read the deposit's event, and pay its recipient on the other chain; return that hash."""
    receipt = origin.chain.rpc("eth_getTransactionReceipt", tx_hash)
    pool = origin.spoke_pool.address
    (log,) = (row for row in receipt["logs"] if row["address"] == pool and len(row["topics"]) == DEPOSIT_TOPICS)
    deposit_id, depositor = int(log["topics"][2], 16), bytes.fromhex(log["topics"][3][2:])
    words = [bytes.fromhex(log["data"][2:])[place : place + 32] for place in range(0, 32 * 9, 32)]
    sold, bought, amount_in, amount_out, _, fill_deadline, exclusivity, recipient, relayer = words
    numbers = (int.from_bytes(each) for each in (amount_in, amount_out))
    origin_id = origin.chain.chain_id
    order = (
        depositor, recipient, relayer, sold, bought, *numbers, origin_id, deposit_id,
        int.from_bytes(fill_deadline), int.from_bytes(exclusivity), b"",
    )  # fmt: skip
    destination.spoke_pool("fillRelay", order, origin_id, bytes(12) + bytes.fromhex(ACTOR[2:]))
    return str(destination.chain.rpc("eth_getBlockByNumber", "latest", False)["transactions"][-1])


def make_word(address: str) -> bytes:
    """Return an address as a word."""
    return bytes(12) + bytes.fromhex(address[2:])


class Crossing:
    """One deposit on Ethereum that a relayer on Base may fill.

    `is_built` says whether it is just what the service built for a quote of the order, or a stranger's idea, who may
    ask for another `amount_out`.
    """

    def __init__(
        self,
        shop: ChainShop,
        reference: bytes,
        *,
        coin: bool = False,
        is_built: bool = True,
        relayer: str = NOBODY,
        amount_out: int | None = None,
    ) -> None:
        self.shop = shop
        self.customer = shop.customer(ETHEREUM)
        self.token_in, self.token_out = shop.token(ETHEREUM), shop.token(BASE, "WETH" if coin else "USDC")
        self.amount_out = (10**15 if coin else PRICE) if amount_out is None else amount_out
        net = shop.nets[ETHEREUM]
        self.pool = net.spoke_pool
        now = int(net.chain.now())
        self.deadline = now + LIFE_S
        self.deposit_id = int(self.pool("numberOfDeposits"))
        approve = bytes.fromhex("095ea7b3") + encode(["address", "uint256"], [self.pool.address, PAID])
        self.customer.send(self.token_in, approve)
        deposit = self.pool.functions["deposit"]
        order = (
            *(
                make_word(self.customer.address),
                make_word(shop.address),
                make_word(self.token_in),
                make_word(self.token_out),
            ),
            *(
                PAID,
                self.amount_out,
                BASE,
                make_word(relayer),
                now,
                self.deadline,
                3600 if relayer != NOBODY else 0,
                b"",
            ),
        )
        if is_built:
            self._remember(reference)
        self.tx_hash = self.customer.send(
            self.pool.address, deposit.selector + encode(deposit.inputs, order) + reference
        )

    def _remember(self, reference: bytes) -> None:
        """Write down what is going to be deposited, as the service does when it builds a deposit."""
        build = describe_build(
            payer=self.customer.address,
            chain_id=ETHEREUM,
            token_address=self.token_in,
            amount=PAID,
            promised_amount=self.amount_out,
            fill_deadline=self.deadline,
        )
        now = self.shop.clock.now()
        with self.shop.shop.resources.database.write() as session:
            query = select(PaymentOrder.id).where(PaymentOrder.payment_reference == reference)
            order_id = session.scalar(query)
            quote_id = make_id(IdPrefix.QUOTE, now)
            session.add(StoredQuote(id=quote_id, order_id=order_id, body={}, created_at=now, expires_at=now))
            session.flush()
            remember_build(session, quote_id, build)

    def fill(self) -> str:
        """Let a relayer pay the merchant; return the transaction's hash."""
        return Wallet(self.shop.nets[BASE].chain, ACTOR).send(*self.make_fill())

    def make_fill(self) -> tuple[str, bytes]:
        """Return what a relayer calls to pay the merchant, and with what."""
        pool = self.shop.nets[BASE].spoke_pool
        relay = (
            *(make_word(self.customer.address), make_word(self.shop.address), bytes(32), make_word(self.token_in)),
            *(make_word(self.token_out), PAID, self.amount_out, ETHEREUM, self.deposit_id, self.deadline, 0, b""),
        )
        fill = pool.functions["fillRelay"]
        return pool.address, fill.selector + encode(fill.inputs, (relay, ETHEREUM, make_word(ACTOR)))


def give_back(shop: ChainShop, crossing: Crossing) -> str:
    """Return a deposit as the bridge does: by a leaf of a root that its owner relays."""
    net = shop.nets[ETHEREUM]
    pool, chain = net.spoke_pool, net.chain
    net.tokens["USDC"]("transfer", pool.address, PAID)
    leaf = (0, ETHEREUM, [PAID], 0, crossing.token_in, [crossing.customer.address])
    root = keccak(encode(["(uint256,uint256,uint256[],uint32,address,address[])"], [leaf]))
    pool("initialize", 0, ACTOR)
    pool("relayRootBundle", root, bytes(32))
    execute = pool.functions["executeRelayerRefundLeaf"]
    return Wallet(chain, ACTOR).send(pool.address, execute.selector + encode(execute.inputs, (0, leaf, [])))
