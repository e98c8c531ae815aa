"""One address, one owner: on each chain a settlement address belongs to one vendor in one environment, for good."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import delete, select, update

from api.cli.commands import main
from api.domain.env import EnvMode
from api.domain.errors import InvalidData
from api.services.resources import Resources
from api.services.vendors.owned_addresses import load_owned_addresses, load_recipients
from api.services.vendors.vendors import Account, make_simulated_address, remove_account, set_account
from api.storage.tables import OwnedAddress, PaymentOrder, SettlementAccount
from routing_engine.reference import token_registry
from tests.api.conftest import START, Merchant
from tests.support.running import find_free_port
from tests.support.shop import Shop

ADDRESS = "0x" + "ab" * 20
LIVE, TEST = EnvMode.LIVE, EnvMode.TEST
Receive = Callable[..., None]


@pytest.fixture
def receive(resources: Resources) -> Receive:
    """Let a vendor receive USDC at an address."""

    def receive_at(vendor: Merchant, env_mode: EnvMode, chain_id: int, address: str = ADDRESS) -> None:
        token = token_registry.token("USDC", chain_id)
        account = Account(
            currency="USDC", chain_id=chain_id, token_address=token.address, token_decimals=6, address=address
        )
        with resources.database.write() as session:
            set_account(session, vendor.id, env_mode, account, START)

    return receive_at


def account_of(resources: Resources, vendor: Merchant, env_mode: EnvMode) -> SettlementAccount | None:
    with resources.database.read() as session:
        return session.get(SettlementAccount, (vendor.id, env_mode, "USDC"))


def test_an_address_of_another_vendor_is_refused_without_saying_whose(
    resources: Resources, receive: Receive, merchant: Merchant, other_merchant: Merchant
) -> None:
    receive(merchant, LIVE, 1)
    for env_mode in EnvMode:
        with pytest.raises(InvalidData) as refused:
            receive(other_merchant, env_mode, 1)
        (problem,) = refused.value.problems
        assert problem.path == "address"
        assert merchant.id not in problem.message
        assert merchant.vendor.name not in problem.message
    assert account_of(resources, other_merchant, LIVE) is None
    receive(merchant, LIVE, 1)
    receive(other_merchant, LIVE, 8453)


@pytest.mark.rule("service.7")
def test_an_address_of_the_other_environment_is_refused(
    resources: Resources, receive: Receive, merchant: Merchant
) -> None:
    receive(merchant, LIVE, 8453)
    with pytest.raises(InvalidData, match="Invalid request data"):
        receive(merchant, TEST, 8453)
    found = account_of(resources, merchant, TEST)
    assert found is not None
    assert found.address == make_simulated_address(merchant.id)


def test_a_made_up_address_is_its_vendors_too(receive: Receive, merchant: Merchant, other_merchant: Merchant) -> None:
    with pytest.raises(InvalidData):
        receive(other_merchant, TEST, 8453, make_simulated_address(merchant.id))


def test_a_removed_account_keeps_its_address(
    resources: Resources, receive: Receive, merchant: Merchant, other_merchant: Merchant
) -> None:
    receive(merchant, LIVE, 1)
    with resources.database.write() as session:
        remove_account(session, merchant.id, LIVE, "USDC", START)
    with pytest.raises(InvalidData):
        receive(other_merchant, LIVE, 1)
    with resources.database.read() as session:
        assert load_recipients(session, LIVE, [1])[1] == {ADDRESS}
        assert load_owned_addresses(session)[1][ADDRESS] == (merchant.id, LIVE)


def test_of_many_who_claim_an_address_at_once_one_gets_it(
    resources: Resources, receive: Receive, make_merchant: Callable[[str], Merchant]
) -> None:
    vendors = [make_merchant(f"Shop {number}") for number in range(8)]
    barrier = Barrier(len(vendors))

    def claim(vendor: Merchant) -> bool:
        barrier.wait()
        try:
            receive(vendor, LIVE, 1)
        except InvalidData:
            return False
        return True

    with ThreadPoolExecutor(len(vendors)) as pool:
        won = list(pool.map(claim, vendors))
    assert won.count(True) == 1
    with resources.database.read() as session:
        owner = load_owned_addresses(session)[1][ADDRESS]
        holders = session.scalars(select(SettlementAccount.vendor_id).filter_by(address=ADDRESS)).all()
    assert [owner] == [(holder, LIVE) for holder in holders] == [(vendors[won.index(True)].id, LIVE)]


def test_where_an_address_is_watched(
    resources: Resources, receive: Receive, merchant: Merchant, other_merchant: Merchant
) -> None:
    alone, shared, split = ("0x" + digits * 20 for digits in ("a1", "a2", "a3"))
    receive(merchant, LIVE, 1, alone)
    receive(merchant, LIVE, 1, shared)
    receive(other_merchant, LIVE, 10, shared)
    receive(merchant, LIVE, 1, split)
    receive(other_merchant, TEST, 10, split)
    with resources.database.read() as session:
        live = load_recipients(session, LIVE, [1, 10, 8453])
        test = load_recipients(session, TEST, [1, 10, 8453])
    assert live[1] == {alone, shared, split}
    assert live[10] == {alone, shared}  # on the wrong chain; what two share, each has where it is its own
    assert live[8453] == {alone}  # nobody could say whose a payment of two owners' address is
    made_up = {make_simulated_address(each.id) for each in (merchant, other_merchant)}
    assert test == {1: made_up, 10: made_up | {split}, 8453: made_up}


def start(resources: Resources, command: str) -> Result:
    port = str(find_free_port())
    env = {"PORT": port, "DATABASE_URL": resources.config.database_url, "DATA_DIR": str(resources.config.data_dir)}
    return CliRunner(env=env).invoke(main, [command])


@pytest.mark.parametrize("command", ["serve", "worker", "up"])
def test_nothing_starts_with_an_account_at_anothers_address(
    resources: Resources, receive: Receive, merchant: Merchant, other_merchant: Merchant, command: str
) -> None:
    receive(merchant, LIVE, 1)
    receive(other_merchant, LIVE, 1, "0x" + "cd" * 20)
    with resources.database.write() as session:
        session.execute(
            update(SettlementAccount).filter_by(vendor_id=other_merchant.id, env_mode=LIVE).values(address=ADDRESS)
        )
    result = start(resources, command)
    assert result.exit_code == 1
    assert f"the account USDC of vendor {other_merchant.id} (live) receives on chain 1 at {ADDRESS}" in result.output
    assert "checkout settlement set" in result.output


@pytest.mark.parametrize("command", ["serve", "worker", "up"])
def test_nothing_starts_with_an_open_order_at_nobodys_address(shop: Shop, resources: Resources, command: str) -> None:
    order_id, closed = shop.create(), shop.create()
    shop.post(f"/api/v1/payment/{closed}/cancel")
    with resources.database.write() as session:
        session.execute(delete(SettlementAccount))
        session.execute(delete(OwnedAddress))
        assert session.get_one(PaymentOrder, order_id).settlement_address
    result = start(resources, command)
    assert result.exit_code == 1
    assert f"the order {order_id} " in result.output
    assert closed not in result.output
