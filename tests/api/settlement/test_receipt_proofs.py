"""Blocks prove what is in them: receipts, transactions, headers and blooms, as consensus hashes them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rlp
from eth_account import Account
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from hypothesis import given
from hypothesis import strategies as st

from adapters.base import BadPayload
from api.services.ledger.blooms import make_bloom, may_contain, search_of
from api.services.ledger.hashes.receipts import NotProven, check_header, check_receipts, encode_receipt
from api.services.ledger.hashes.transactions import check_sender, check_transactions, encode_transaction
from api.services.ledger.hashes.tries import compute_root
from api.services.ledger.transfers import TRANSFER_TOPIC, make_topic
from tests.support.chain import Chain, running_chain
from tests.support.main_net import _mock_token
from tests.support.settlement import Wallet, somebody, transfer_data

SIGNER = Account.from_key("0x" + "07" * 32)
SHOP = somebody("shop")

CANYON_RECEIPT = "7ef9010d0182b741b90100" + "00" * 256 + "c0833d3bbf01"
"""A deposit's receipt after the fork Canyon: alloy's op-alloy-consensus, `post_canyon_receipt_roundtrip`."""
RECORDED = json.loads((Path(__file__).parent / "recorded_blocks.json").read_text())
"""As public endpoints of main nets told them; that they hash to their hashes says that they are real."""
DEPOSIT = {"type": "0x7e", "status": "0x1", "cumulativeGasUsed": hex(46913), "logs": [], "depositNonce": hex(4012991)}


@pytest.fixture(scope="module")
def chain() -> Iterator[Chain]:
    with running_chain(8453) as running:
        yield running


@pytest.fixture(scope="module")
def block(chain: Chain) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block with transactions of types 0, 1, 2 and 4, one of them failed, with and without events."""
    token = chain.deploy(_mock_token(), "Token", "T", 6)
    token("mint", SIGNER.address, 10**9)
    chain.rpc("anvil_setBalance", SIGNER.address, hex(10**20))
    call = {
        "to": to_checksum_address(token.address),
        "data": transfer_data(SHOP, 5),
        "gas": 200_000,
        "chainId": 8453,
        "value": 0,
    }
    permission = SIGNER.sign_authorization({"chainId": 8453, "address": to_checksum_address(token.address), "nonce": 9})
    access = [{"address": to_checksum_address(token.address), "storageKeys": ["0x" + "01" * 32]}]
    fees = {"maxFeePerGas": 7, "maxPriorityFeePerGas": 1}
    kinds: list[dict[str, Any]] = [
        {"gasPrice": 5},
        {"gasPrice": 5, "accessList": access, "type": 1},
        fees,
        {**fees, "data": transfer_data(SHOP, 10**18)},
        {**fees, "accessList": access, "authorizationList": [permission]},
    ]
    for nonce, kind in enumerate(kinds):
        signed = SIGNER.sign_transaction({**call, "nonce": nonce, **kind})
        chain.rpc("eth_sendRawTransaction", "0x" + signed.raw_transaction.hex())
    chain.mine()
    return chain.rpc("eth_getBlockByNumber", "latest", True), chain.rpc("eth_getBlockReceipts", "latest")


def test_a_block_of_every_type_proves_itself(block: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    header, receipts = block
    assert [each["type"] for each in receipts] == ["0x0", "0x1", "0x2", "0x2", "0x4"]
    assert [each["status"] for each in receipts].count("0x0") == 1
    check_header(header, header["hash"])
    check_receipts(8453, header, receipts)
    check_transactions(header, {}, is_rehearsal=False)
    for record in header["transactions"]:
        check_sender(record, is_rehearsal=False)


def change_amount(receipts: list[dict[str, Any]]) -> None:
    receipts[0]["logs"][0]["data"] = f"0x{10**12:064x}"


def invent_receipt(receipts: list[dict[str, Any]]) -> None:
    receipts.append({**receipts[-1], "transactionHash": "0x" + "ab" * 32})


def leave_out(receipts: list[dict[str, Any]]) -> None:
    del receipts[0]


def leave_out_log(receipts: list[dict[str, Any]]) -> None:
    receipts[0]["logs"].clear()


def pass_as_success(receipts: list[dict[str, Any]]) -> None:
    next(each for each in receipts if each["status"] == "0x0")["status"] = "0x1"


def exchange_hashes(receipts: list[dict[str, Any]]) -> None:
    one, two = receipts[0], receipts[1]
    one["transactionHash"], two["transactionHash"] = two["transactionHash"], one["transactionHash"]


def number_logs_anew(receipts: list[dict[str, Any]]) -> None:
    receipts[1]["logs"][0]["logIndex"] = "0x7"


LIES = (change_amount, invent_receipt, leave_out, leave_out_log, pass_as_success, exchange_hashes, number_logs_anew)


@pytest.mark.parametrize("lie", LIES)
def test_no_changed_receipt_is_proven(
    block: tuple[dict[str, Any], list[dict[str, Any]]], lie: Callable[[list[dict[str, Any]]], None]
) -> None:
    header, receipts = copy.deepcopy(block)
    lie(receipts)
    with pytest.raises(NotProven):
        check_receipts(8453, header, receipts)


@pytest.mark.parametrize("logs", [True, 7, {"address": SHOP}, "0x", [True], [[]], [{}], [{"topics": True}]])
def test_logs_that_are_none_are_garbage_and_nothing_worse(
    block: tuple[dict[str, Any], list[dict[str, Any]]], logs: object
) -> None:
    header, receipts = copy.deepcopy(block)
    receipts[0]["logs"] = logs
    with pytest.raises(BadPayload):
        check_receipts(8453, header, receipts)


@pytest.mark.parametrize("field", ["receiptsRoot", "transactionsRoot", "parentHash", "logsBloom", "timestamp"])
def test_no_changed_header_is_proven(block: tuple[dict[str, Any], list[dict[str, Any]]], field: str) -> None:
    header = {**block[0], field: block[0][field][:-1] + ("0" if block[0][field][-1] != "0" else "1")}
    with pytest.raises(NotProven):
        check_header(header, header["hash"])


@pytest.mark.parametrize("header", RECORDED["headers"].values(), ids=RECORDED["headers"])
def test_headers_of_main_nets_hash_to_their_blocks(header: dict[str, Any]) -> None:
    check_header(header, header["hash"])


@pytest.mark.parametrize("record", RECORDED["transactions"].values(), ids=RECORDED["transactions"])
def test_what_no_key_signs_on_main_nets_has_its_hash(record: dict[str, Any]) -> None:
    check_sender(record, is_rehearsal=False)


def test_a_block_is_proven_by_a_node_that_tells_its_signer_as_its_miner(
    block: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    """Found: Erigon does so on Polygon (erigontech/erigon#12690), and with it alone no payment there ever counted."""
    header = block[0]
    assert int(header["miner"], 16) == 0
    check_header({**header, "miner": SHOP}, header["hash"])
    with pytest.raises(NotProven):
        check_header({**header, "miner": SHOP, "timestamp": "0x1"}, header["hash"])


def test_what_a_contract_sends_to_arbitrum_hashes_though_its_cap_is_told_as_its_price() -> None:
    """Found: so anybody could have any block of Arbitrum not be proven. Encoded by nitro's `ArbitrumUnsignedTx`."""
    fields = [b"\xa4\xb1", bytes.fromhex(SHOP[2:]), b"\x07", b"\x05", b"\x52\x08", b"", b"\x09", b"\x01"]
    told = {"type": "0x65", "chainId": "0xa4b1", "from": SHOP, "nonce": "0x7", "gasPrice": "0x5", "gas": "0x5208"}
    record = {**told, "to": None, "value": "0x9", "input": "0x01"}
    assert encode_transaction(record) == b"\x65" + rlp.encode(fields)
    assert encode_transaction({**record, "maxFeePerGas": "0x5", "gasPrice": "0x4"}) == b"\x65" + rlp.encode(fields)


@pytest.mark.parametrize("field", ["input", "to", "value", "nonce"])
def test_no_changed_transaction_is_proven(block: tuple[dict[str, Any], list[dict[str, Any]]], field: str) -> None:
    header = copy.deepcopy(block[0])
    changed = header["transactions"][0]
    changed[field] = {"input": changed["input"] + "00" * 16, "to": SHOP, "value": "0x1", "nonce": "0x7"}[field]
    with pytest.raises(NotProven):
        check_transactions(header, {}, is_rehearsal=False)
    with pytest.raises(NotProven):
        check_sender(changed, is_rehearsal=True)


@pytest.mark.parametrize("is_rehearsal", [True, False])
def test_nobody_passes_for_the_sender(block: tuple[dict[str, Any], list[dict[str, Any]]], is_rehearsal: bool) -> None:
    for record in block[0]["transactions"]:
        with pytest.raises(NotProven):
            check_sender({**record, "from": SHOP}, is_rehearsal=is_rehearsal)


def test_a_developers_chain_has_transactions_that_nobody_signed(chain: Chain) -> None:
    chain.rpc("anvil_setBalance", SHOP, hex(10**18))
    tx_hash = Wallet(chain, SHOP).send(somebody("other"), b"\x01", value=1)
    record = chain.rpc("eth_getTransactionByHash", tx_hash)
    check_sender(record, is_rehearsal=True)
    with pytest.raises(NotProven):
        check_sender(record, is_rehearsal=False)


def test_a_transaction_of_a_type_that_is_not_known_is_hashed_as_it_was_sent(
    block: tuple[dict[str, Any], list[dict[str, Any]]],
) -> None:
    header = copy.deepcopy(block[0])
    changed = header["transactions"][2]
    raw = encode_transaction(changed)
    changed["type"] = "0x7b"
    with pytest.raises(NotProven):
        check_transactions(header, {}, is_rehearsal=False)
    check_transactions(header, {changed["hash"]: raw}, is_rehearsal=False)


def test_a_deposit_on_an_op_stack_chain_is_encoded_as_consensus_does() -> None:
    assert encode_receipt({**DEPOSIT, "depositReceiptVersion": "0x1"}).hex() == CANYON_RECEIPT
    without_nonce = encode_receipt(DEPOSIT)
    assert without_nonce == encode_receipt({**DEPOSIT, "type": "0x2"}).replace(b"\x02", b"\x7e", 1)


@pytest.mark.parametrize("kind", ["0x64", "0x65", "0x66", "0x68", "0x69", "0x6a", "0x7f"])
def test_the_types_of_arbitrum_and_polygon_are_encoded_behind_their_number(kind: str) -> None:
    encoded = encode_receipt({**DEPOSIT, "type": kind})
    assert encoded[0] == int(kind, 16)
    assert encoded[1:] == encode_receipt({**DEPOSIT, "type": "0x2"})[1:]
    assert encode_receipt({**DEPOSIT, "type": "0x78"}) == encode_receipt({**DEPOSIT, "type": "0x0"}) == encoded[1:]


def test_a_state_sync_has_the_hash_of_bor_or_of_erigon() -> None:
    """Bor hashes a structure of one list, where the bytes that it gives, and that the root is of, have the list."""
    syncs = [[b"\x01", b"\xaa" * 20, b"data" * 30, b"\xbb" * 32]]
    raw = b"\x7f" + rlp.encode(syncs)
    root = compute_root([raw])

    def check(tx_hash: bytes) -> None:
        record = {"type": "0x7f", "hash": "0x" + tx_hash.hex()}
        header = {"transactions": [record], "transactionsRoot": root}
        check_transactions(header, {record["hash"]: raw}, is_rehearsal=False)

    check(keccak(raw))
    check(keccak(b"\x7f" + rlp.encode([syncs])))
    with pytest.raises(NotProven, match="does not hash"):
        check(keccak(b"another"))


def test_a_type_that_nobody_knows_is_not_guessed() -> None:
    with pytest.raises(NotProven, match="0x7b"):
        encode_receipt({**DEPOSIT, "type": "0x7b"})


@pytest.mark.parametrize("change", [{"logs": ["x"]}, {"logs": [{"topics": 1}]}, {"cumulativeGasUsed": "1"}])
def test_garbage_is_no_receipt(change: dict[str, Any]) -> None:
    with pytest.raises(BadPayload):
        encode_receipt({**DEPOSIT, **change})


def test_a_node_agrees_with_the_bloom(block: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    header, receipts = block
    bloom = int(header["logsBloom"], 16)
    logs = [log for each in receipts for log in each["logs"]]
    items = [bytes.fromhex(text[2:]) for log in logs for text in (log["address"], *log["topics"])]
    assert len(logs) == 4
    assert bloom == make_bloom(items)
    assert search_of([TRANSFER_TOPIC], [make_topic(SHOP)]).may_match(bloom)
    assert not search_of([TRANSFER_TOPIC], [make_topic(somebody("nobody"))]).may_match(bloom)


@given(items=st.lists(st.binary(min_size=20, max_size=32), max_size=60), other=st.binary(min_size=20, max_size=32))
def test_what_is_in_a_bloom_is_never_denied(items: list[bytes], other: bytes) -> None:
    bloom = make_bloom(items)
    assert all(may_contain(bloom, item) for item in items)
    assert may_contain(make_bloom([*items, other]), other)
