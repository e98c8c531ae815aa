"""What bridges took in and paid out, on real contracts: whose it is, and what strangers make of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from eth_abi import encode
from eth_keys import keys
from eth_utils import keccak

from adapters.bridges.promise import Promise
from adapters.chain.deployments import read_deployments
from api.domain.transfers import TransferKind
from routing_engine.amm.stargate_fee import FeeTerms
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.support.circle import deploy_circle, forward
from tests.support.evidence import MINE, THEIRS, Meddling, approve, customer_of, data_of, found_in, own, run, runner_on
from tests.support.evm import ACTOR
from tests.support.layer_zero import MESSAGE_FEE, StargateEnd
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import Wallet, somebody
from tests.support.vyper_source import compiled

BASE, ETHEREUM = 8453, 1
SHOP, OTHER_SHOP = somebody("merchant behind a bridge"), somebody("another merchant")
HOUR = 3_600
KEY = keys.PrivateKey(keccak(text="a depositor's key"))
SIGNER = KEY.public_key.to_address()
ROOTS = {
    "fromBlock": "0x0",
    "topics": ["0x" + keccak(text="RelayedRootBundle(uint32,bytes32,bytes32)").hex()],
}
UPDATE = keccak(
    text="UpdateDepositDetails(uint256 depositId,uint256 originChainId,uint256 updatedOutputAmount,"
    "bytes32 updatedRecipient,bytes updatedMessage)"
)


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base, running_main_net(ETHEREUM) as ethereum:
        for net in (base, ethereum):
            deploy_circle(net)
            net.spoke_pool("initialize", 0, ACTOR)
        yield {BASE: base, ETHEREUM: ethereum}


def word(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


@dataclass(frozen=True)
class Relay:
    """What relayers need to know of a deposit into Across, as ``V3RelayData`` has it."""

    nets: Mapping[int, MainNet]
    deposit_id: int
    token_out: str
    amount_out: int
    deadline: int
    depositor: str = SIGNER
    recipient: str = SHOP

    @classmethod
    def offered(cls, nets: Mapping[int, MainNet], symbol: str = "USDC", amount_out: int = 1_000) -> Relay:
        here, there = nets[ETHEREUM], nets[BASE]
        deadline = int(max(here.chain.now(), there.chain.now())) + HOUR
        return cls(nets, here.spoke_pool("numberOfDeposits"), there.tokens[symbol].address, amount_out, deadline)

    @property
    def data(self) -> tuple[Any, ...]:
        ends = word(self.depositor), word(self.recipient), bytes(32), word(self.nets[ETHEREUM].tokens["USDC"].address)
        amounts = word(self.token_out), 1_200, self.amount_out, ETHEREUM
        return (*ends, *amounts, self.deposit_id, self.deadline, 0, b"")

    def deposit(self, sender: Wallet, tail: bytes = b"") -> str:
        """Deposit 1,200 units in the depositor's name."""
        pool, sold = self.nets[ETHEREUM].spoke_pool, self.nets[ETHEREUM].tokens["USDC"]
        approve(sender, sold, pool.address)
        return sender.send(pool.address, self.call_of_deposit + tail)

    @property
    def call_of_deposit(self) -> bytes:
        pool, sold = self.nets[ETHEREUM].spoke_pool, self.nets[ETHEREUM].tokens["USDC"].address
        moments = int(self.nets[ETHEREUM].chain.now()), self.deadline, 0
        people = word(self.depositor), word(self.recipient), word(sold), word(self.token_out)
        return data_of(pool, "deposit", *people, 1_200, self.amount_out, BASE, bytes(32), *moments, b"")

    def fill(self, tail: bytes = b"") -> str:
        """Fill it as the actor, and return the hash."""
        pool = self.nets[BASE].spoke_pool
        order = (self.data, ETHEREUM, word(ACTOR))
        return Wallet(self.nets[BASE].chain, ACTOR).send(pool.address, data_of(pool, "fillRelay", *order) + tail)

    def fill_updated(self, amount_out: int, recipient: str) -> str:
        """Fill it as its depositor signed that it should be now."""
        pool, chain = self.nets[BASE].spoke_pool, self.nets[BASE].chain
        details = [UPDATE, self.deposit_id, ETHEREUM, amount_out, word(recipient), keccak(b"")]
        struct = keccak(encode(["bytes32", "uint256", "uint256", "uint256", "bytes32", "bytes32"], details))
        domain_type = keccak(text="EIP712Domain(string name,string version,uint256 chainId)")
        about = [domain_type, keccak(text="ACROSS-V2"), keccak(text="1.0.0"), ETHEREUM]
        domain = keccak(encode(["bytes32", "bytes32", "bytes32", "uint256"], about))
        signed = KEY.sign_msg_hash(keccak(b"\x19\x01" + domain + struct)).to_bytes()
        signed = signed[:-1] + bytes([signed[-1] + 27])
        order = (self.data, ETHEREUM, word(ACTOR), amount_out, word(recipient), b"", signed)
        return Wallet(chain, ACTOR).send(pool.address, data_of(pool, "fillRelayWithUpdatedDeposit", *order))


@pytest.mark.parametrize("refuses", [False, True])
def test_a_deposit_is_its_payers_and_promises_its_output(nets: Mapping[int, MainNet], refuses: bool) -> None:
    relay, payer = Relay.offered(nets), customer_of(nets[ETHEREUM], "depositor")
    (found,) = found_in(nets[ETHEREUM], relay.deposit(payer, MINE), [SHOP], Meddling(refuses))
    assert (found.kind, found.amount, found.sender, own(found)) == ("deposit", 1_200, payer.address, (MINE,))
    assert found.promise == Promise(
        chain_id=BASE, token_address=relay.token_out.lower(), recipient=SHOP, amount=relay.amount_out
    )
    assert found.fill_deadline is not None
    assert int(found.fill_deadline.timestamp()) == relay.deadline


@pytest.mark.parametrize("refuses", [False, True])
def test_a_deposit_to_somebody_else_is_nobodys_here(nets: Mapping[int, MainNet], refuses: bool) -> None:
    """One who deposits to himself, with an order's reference, is on his own."""
    relay = replace(Relay.offered(nets), recipient=somebody("himself"))
    payer = customer_of(nets[ETHEREUM], "depositor")
    assert found_in(nets[ETHEREUM], relay.deposit(payer, MINE), [SHOP], Meddling(refuses)) == []


@pytest.mark.parametrize("refuses", [False, True])
def test_a_deposit_of_a_victims_money_is_not_the_strangers(nets: Mapping[int, MainNet], refuses: bool) -> None:
    net, relay = nets[ETHEREUM], Relay.offered(nets)
    victim, thief, spender = customer_of(net, "victim"), customer_of(net, "thief"), runner_on(net.chain)
    usdc, pool = net.tokens["USDC"], net.spoke_pool
    approve(victim, usdc, spender.address)
    calls = [
        (usdc.address, 0, data_of(usdc, "transferFrom", victim.address, spender.address, 1_200)),
        (usdc.address, 0, data_of(usdc, "approve", pool.address, 1_200)),
        (pool.address, 0, relay.call_of_deposit),
    ]
    (found,) = found_in(net, thief.send(spender.address, run(spender, calls) + THEIRS), [SHOP], Meddling(refuses))
    assert (found.kind, THEIRS in own(found)) == ("deposit", False)
    assert found.sender == ("" if refuses else spender.address.lower())  # whoever the pool took it from


@pytest.mark.rule("evidence.6")
@pytest.mark.parametrize("refuses", [False, True])
def test_a_fill_answers_its_own_deposit_only(nets: Mapping[int, MainNet], refuses: bool) -> None:
    """A stranger fills an invented relay with the victim's deposit id and an output of one."""
    relay, payer = Relay.offered(nets), customer_of(nets[ETHEREUM], "depositor")
    (deposit,) = found_in(nets[ETHEREUM], relay.deposit(payer, MINE), [SHOP])
    (fake,) = found_in(nets[BASE], replace(relay, amount_out=1).fill(THEIRS), [SHOP], Meddling(refuses))
    (real,) = found_in(nets[BASE], relay.fill(THEIRS), [SHOP], Meddling(refuses))
    assert real.bridge_id == deposit.bridge_id != fake.bridge_id
    assert [(row.kind, row.amount) for row in (fake, real)] == [("payment", 1), ("payment", 1_000)]
    assert [(row.namings, row.sender) for row in (fake, real)] == [((), "")] * 2


@pytest.mark.rule("evidence.6")
@pytest.mark.parametrize(
    "changes", [{"depositor": ACTOR}, {"deadline": 7}, {"amount_out": 999}, {"recipient": OTHER_SHOP}], ids=str
)
def test_every_datum_of_a_relay_is_its_identity(nets: Mapping[int, MainNet], changes: dict[str, Any]) -> None:
    relay, payer = Relay.offered(nets), customer_of(nets[ETHEREUM], "depositor")
    (deposit,) = found_in(nets[ETHEREUM], relay.deposit(payer), [SHOP])
    other = replace(relay, **({"deadline": relay.deadline + 1} if "deadline" in changes else changes))
    (found,) = found_in(nets[BASE], other.fill(), [SHOP, OTHER_SHOP])
    assert found.bridge_id.startswith("across:0x")
    assert found.bridge_id != deposit.bridge_id


@pytest.mark.parametrize("refuses", [False, True])
def test_a_redirected_deposit_brings_nothing_and_says_so(nets: Mapping[int, MainNet], refuses: bool) -> None:
    relay, payer, himself = Relay.offered(nets), customer_of(nets[ETHEREUM], "depositor"), somebody("himself")
    (deposit,) = found_in(nets[ETHEREUM], relay.deposit(payer, MINE), [SHOP])
    (found,) = found_in(nets[BASE], relay.fill_updated(1_000, himself), [SHOP], Meddling(refuses))
    assert (found.kind, found.amount, found.recipient) == (TransferKind.REDIRECTED, 0, himself)
    assert found.bridge_id == deposit.bridge_id


def test_a_deposit_that_is_redirected_to_another_merchant_is_no_payment_for_the_first(
    nets: Mapping[int, MainNet],
) -> None:
    relay = Relay.offered(nets)
    (deposit,) = found_in(nets[ETHEREUM], relay.deposit(customer_of(nets[ETHEREUM], "depositor"), MINE), [SHOP])
    found = found_in(nets[BASE], relay.fill_updated(900, OTHER_SHOP), [SHOP, OTHER_SHOP])
    assert [(row.kind, row.recipient, row.amount, row.bridge_id) for row in found] == [
        (TransferKind.REDIRECTED, OTHER_SHOP, 0, deposit.bridge_id),
        (TransferKind.PAYMENT, OTHER_SHOP, 900, ""),
    ]


@pytest.mark.parametrize("refuses", [False, True])
def test_a_speed_up_brings_what_really_arrives(nets: Mapping[int, MainNet], refuses: bool) -> None:
    relay = Relay.offered(nets)
    (deposit,) = found_in(nets[ETHEREUM], relay.deposit(customer_of(nets[ETHEREUM], "depositor"), MINE), [SHOP])
    (found,) = found_in(nets[BASE], relay.fill_updated(400, SHOP), [SHOP], Meddling(refuses))
    assert (found.kind, found.amount, found.bridge_id) == (TransferKind.PAYMENT, 400, deposit.bridge_id)


def test_coin_of_a_fill_is_the_same_transfer_with_and_without_a_trace(nets: Mapping[int, MainNet]) -> None:
    relay = Relay.offered(nets, "WETH", 5_000)
    (deposit,) = found_in(nets[ETHEREUM], relay.deposit(customer_of(nets[ETHEREUM], "depositor"), MINE), [SHOP])
    tx_hash = relay.fill(THEIRS)
    (traced,), (untraced,) = (found_in(nets[BASE], tx_hash, [SHOP], Meddling(refuses)) for refuses in (False, True))
    assert traced == untraced
    assert (traced.token_address, traced.amount, traced.bridge_id) == (NATIVE_ADDRESS, 5_000, deposit.bridge_id)
    assert not traced.is_inner


@pytest.mark.parametrize("symbol", ["USDC", "WETH"])
@pytest.mark.parametrize("refuses", [False, True])
def test_a_slow_fill_is_the_deposits_whoever_asks_for_it(
    nets: Mapping[int, MainNet], symbol: str, refuses: bool
) -> None:
    """The pool's own money; a stranger executes the leaf with his reference, and pays a little himself."""
    net, pool, thief = nets[BASE], nets[BASE].spoke_pool, customer_of(nets[BASE], "thief")
    relay, tool = Relay.offered(nets, symbol, 800), runner_on(nets[BASE].chain)
    (deposit,) = found_in(nets[ETHEREUM], relay.deposit(customer_of(nets[ETHEREUM], "depositor"), MINE), [SHOP])
    net.fund(pool.address, symbol, 800)
    leaf = (relay.data, BASE, 790)
    types = "(bytes32,bytes32,bytes32,bytes32,bytes32,uint256,uint256,uint256,uint256,uint32,uint32,bytes)"
    number = sum(row != [] for row in net.chain.rpc("eth_getLogs", ROOTS | {"address": pool.address}))
    pool("relayRootBundle", bytes(32), keccak(encode([f"({types},uint256,uint256)"], [leaf])))
    usdc = net.tokens["USDC"]
    approve(thief, usdc, tool.address)
    calls = [
        (usdc.address, 0, data_of(usdc, "transferFrom", thief.address, tool.address, 1)),
        (pool.address, 0, data_of(pool, "executeSlowRelayLeaf", leaf, number, [])),
    ]
    (found,) = found_in(net, thief.send(tool.address, run(tool, calls) + THEIRS), [SHOP], Meddling(refuses))
    assert (found.amount, found.namings, found.sender) == (790, (), "")
    assert found.bridge_id == deposit.bridge_id


def test_wrapped_coin_for_a_contract_stays_wrapped(nets: Mapping[int, MainNet]) -> None:
    shop = runner_on(nets[BASE].chain).address.lower()
    relay = replace(Relay.offered(nets, "WETH", 5_000), recipient=shop)
    (deposit,) = found_in(nets[ETHEREUM], relay.deposit(customer_of(nets[ETHEREUM], "depositor"), MINE), [shop])
    tx_hash = relay.fill()
    for refuses in (False, True):
        (found,) = found_in(nets[BASE], tx_hash, [shop], Meddling(refuses))
        assert (found.token_address, found.amount) == (CHAINS[BASE].wrapped_native, 5_000)
        assert found.bridge_id == deposit.bridge_id


def test_two_fills_in_one_transaction_are_told_apart(nets: Mapping[int, MainNet]) -> None:
    payer, pool = customer_of(nets[ETHEREUM], "depositor"), nets[BASE].spoke_pool
    relayer, deposits, calls = runner_on(nets[BASE].chain), [], []
    for symbol, amount in (("USDC", 700), ("USDC", 700), ("WETH", 700), ("WETH", 600)):
        relay = Relay.offered(nets, symbol, amount)
        deposits += found_in(nets[ETHEREUM], relay.deposit(payer), [SHOP])
        nets[BASE].fund(relayer.address, symbol, amount)
        token = nets[BASE].tokens[symbol]
        calls.append((token.address, 0, data_of(token, "approve", pool.address, amount)))
        calls.append((pool.address, 0, data_of(pool, "fillRelay", relay.data, ETHEREUM, word(ACTOR))))
    tx_hash = payer_on(nets[BASE]).send(relayer.address, run(relayer, calls) + THEIRS)
    for refuses in (False, True):
        found = found_in(nets[BASE], tx_hash, [SHOP], Meddling(refuses))
        assert [row.bridge_id for row in found] == [row.bridge_id for row in deposits]
        assert [row.amount for row in found] == [700, 700, 700, 600]
        assert {(row.namings, row.sender) for row in found} == {((), "")}


def payer_on(net: MainNet) -> Wallet:
    return customer_of(net, "somebody with gas")


def test_a_relayer_who_hands_over_what_was_owed_takes_no_payment_with_it(nets: Mapping[int, MainNet]) -> None:
    """The victim's open deposit is filled in the same call that spends the victim's allowance at the merchant's."""
    net, pool = nets[BASE], nets[BASE].spoke_pool
    usdc = net.tokens["USDC"]
    victim, thief, tool = customer_of(net, "victim"), customer_of(net, "thief"), runner_on(net.chain)
    relay = replace(Relay.offered(nets), recipient=victim.address)
    net.fund(tool.address, "USDC", 1)
    for wallet in (victim, thief):
        approve(wallet, usdc, tool.address)
    calls = [
        (usdc.address, 0, data_of(usdc, "transferFrom", thief.address, tool.address, 1_000)),
        (usdc.address, 0, data_of(usdc, "approve", pool.address, 1_000)),
        (pool.address, 0, data_of(pool, "fillRelay", relay.data, ETHEREUM, word(ACTOR))),
        (usdc.address, 0, data_of(usdc, "transferFrom", victim.address, SHOP, 900)),
    ]
    (found,) = found_in(net, thief.send(tool.address, run(tool, calls) + THEIRS), [SHOP])
    assert (found.amount, own(found), found.sender) == (900, (), "")


def burn(nets: Mapping[int, MainNet], payer: Wallet, tail: bytes = b"") -> str:
    net = nets[ETHEREUM]
    (facts,) = read_deployments("cctp", ETHEREUM)
    messenger = net.chain.at(facts.get_address("token_messenger"), compiled("circle")["abi"])
    approve(payer, net.tokens["USDC"], messenger.address)
    hook = b"cctp-forward".ljust(32, b"\0") + MINE
    order = (1_000, 6, word(SHOP), net.tokens["USDC"].address, bytes(32), 30, 1_000, hook)
    return payer.send(messenger.address, data_of(messenger, "depositForBurnWithHook", *order) + tail)


@pytest.mark.parametrize("refuses", [False, True])
def test_a_burn_promises_and_its_mint_brings_what_is_left(nets: Mapping[int, MainNet], refuses: bool) -> None:
    payer = customer_of(nets[ETHEREUM], "burner")
    burnt = burn(nets, payer, MINE)
    (deposit,) = found_in(nets[ETHEREUM], burnt, [SHOP], Meddling(refuses))
    coin = token_registry.token("USDC", BASE).address
    assert (deposit.kind, deposit.sender, own(deposit)) == ("deposit", payer.address, (MINE,))
    assert deposit.promise == Promise(chain_id=BASE, token_address=coin, recipient=SHOP, amount=970)
    minted = forward(nets[ETHEREUM], nets[BASE], burnt, 20)
    (found,) = found_in(nets[BASE], minted, [SHOP], Meddling(refuses))
    assert (found.amount, found.bridge_id, found.namings) == (980, deposit.bridge_id, ())


@pytest.mark.parametrize("refuses", [False, True])
def test_a_message_that_looks_like_a_burn_answers_none(nets: Mapping[int, MainNet], refuses: bool) -> None:
    """Anybody may send a message; only the messenger's are burns. What it brings is nobody's."""
    payer = customer_of(nets[ETHEREUM], "burner")
    burnt = burn(nets, payer, MINE)
    (deposit,) = found_in(nets[ETHEREUM], burnt, [SHOP])
    (facts,) = read_deployments("cctp", BASE)
    transmitter = nets[BASE].chain.at(facts.get_address("message_transmitter"), compiled("circle")["abi"])
    words = (word(nets[ETHEREUM].tokens["USDC"].address), word(SHOP), (1_000).to_bytes(32), word(payer.address))
    fees = (30).to_bytes(32), bytes(32), bytes(32)
    body = b"\0\0\0\1" + b"".join((*words, *fees)) + b"cctp-forward".ljust(32, b"\0") + MINE
    head = (1).to_bytes(4) + (0).to_bytes(4) + (6).to_bytes(4) + keccak(text=f"nonce {refuses}")
    forged = head + word(somebody("forger")) + word(SHOP) + bytes(32) + (1_000).to_bytes(4) * 2 + body
    tx_hash = payer_on(nets[BASE]).send(
        transmitter.address, data_of(transmitter, "receiveMessage", forged, bytes(65)) + THEIRS
    )
    (found,) = found_in(nets[BASE], tx_hash, [SHOP], Meddling(refuses))
    assert (found.bridge_id, own(found), deposit.bridge_id != "") == ("", (), True)


@pytest.fixture(scope="module")
def stargates(nets: Mapping[int, MainNet]) -> tuple[StargateEnd, StargateEnd]:
    here, there = StargateEnd.deploy(nets[ETHEREUM]), StargateEnd.deploy(nets[BASE])
    terms = FeeTerms(10**10, 10**11, 0, 600, 3_000, 0)
    here.join(there, terms, 10**11)
    there.join(here, terms, 10**11)
    return here, there


@pytest.mark.parametrize("way", ["traced", "not traced", "from an account"])
def test_a_send_promises_and_brings_what_its_pool_pays(
    nets: Mapping[int, MainNet], stargates: tuple[StargateEnd, StargateEnd], way: str
) -> None:
    here, there = stargates
    net, payer, account = nets[ETHEREUM], customer_of(nets[ETHEREUM], "sender"), runner_on(nets[ETHEREUM].chain)
    order = (there.eid, word(SHOP), 10**6, 990_000, b"", b"", b"")
    send = data_of(here.pool, "send", order, (MESSAGE_FEE, 0), payer.address) + MINE
    usdc = net.tokens["USDC"]
    if way == "from an account":
        net.fund(account.address, "USDC", 10**6)
        calls = [
            (usdc.address, 0, data_of(usdc, "approve", here.pool.address, 10**6)),
            (here.pool.address, MESSAGE_FEE, send),
        ]
        tx_hash = payer.send(account.address, run(account, calls), value=MESSAGE_FEE)
    else:
        approve(payer, usdc, here.pool.address)
        tx_hash = payer.send(here.pool.address, send, value=MESSAGE_FEE)
    refuses = way == "not traced"
    (deposit,) = found_in(net, tx_hash, [SHOP], Meddling(refuses))
    coin = token_registry.token("USDC", BASE).address
    assert deposit.promise == Promise(chain_id=BASE, token_address=coin, recipient=SHOP, amount=990_000)
    assert (deposit.kind, own(deposit)) == ("deposit", (MINE,))
    received = there.deliver(here, tx_hash)
    (found,) = found_in(nets[BASE], received, [SHOP], Meddling(refuses))
    assert (found.bridge_id, found.namings) == (deposit.bridge_id, ())
    assert 990_000 <= found.amount <= 10**6


@pytest.mark.rule("evidence.6")
def test_a_fill_in_another_token_answers_no_deposit(nets: Mapping[int, MainNet]) -> None:
    relay, payer = Relay.offered(nets), customer_of(nets[ETHEREUM], "depositor")
    (deposit,) = found_in(nets[ETHEREUM], relay.deposit(payer, MINE), [SHOP])
    other = replace(relay, token_out=nets[BASE].tokens["DAI"].address)
    (found,) = found_in(nets[BASE], other.fill(THEIRS), [SHOP])
    assert (found.kind, found.amount, found.token_address) == ("payment", 1_000, other.token_out.lower())
    assert found.bridge_id != deposit.bridge_id
    assert found.namings == ()
