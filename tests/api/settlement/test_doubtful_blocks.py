"""Doubtful blocks: which they are, how they are listed, and how often they are asked about."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner

from api.cli.commands import main
from api.domain.env import EnvMode
from api.domain.ledger import Doubt, Settlement
from api.domain.transfers import CanonicalBlock
from api.domain.watched import Watched
from api.services.ledger.blooms import make_bloom
from api.services.ledger.chain_reader import HINT
from api.services.ledger.transfers import TRANSFER_TOPIC, make_topic
from api.services.resources import Resources
from api.services.settlement.watching.doubtful_blocks import (
    close_doubts,
    count_doubts,
    find_oldest_doubt,
    list_due_doubts,
    note_doubts,
)
from tests.api.settlement.test_chain_ledger import PAYER, SHOP, TOKEN, Node, reader

BASE = 8453
LIVE = EnvMode.LIVE


def doubt(resources: Resources, number: int, fork: str = "0a") -> Doubt:
    block = CanonicalBlock(number=number, hash="0x" + fork * 32, mined_at=resources.clock.now())
    return Doubt(block=block, told_by="first.example")


def bloom(*texts: str) -> str:
    return f"0x{make_bloom(bytes.fromhex(text[2:]) for text in texts):0512x}"


BLOOMS = {
    "a transfer to the shop": (bloom(TOKEN, TRANSFER_TOPIC, make_topic(PAYER), make_topic(SHOP)), [2]),
    "a transfer to somebody else": (bloom(TOKEN, TRANSFER_TOPIC, make_topic(SHOP[:-2] + "00"), make_topic(PAYER)), []),
    "nothing": (bloom(), []),
    "everything": ("0x" + "ff" * 256, [2]),
}


@pytest.mark.parametrize("name", BLOOMS)
@pytest.mark.parametrize("logs", [[], None])
def test_a_block_is_doubtful_if_its_bloom_allows_for_more(name: str, logs: list[Any] | None) -> None:
    """Whether events came or not: which were left out no bloom can tell."""
    said, doubtful = BLOOMS[name]

    def with_bloom(params: list[Any], block: Any) -> Any:
        return {**block, "logsBloom": said} if block and block["number"] == "0x2" else block

    node = Node({"eth_getBlockByNumber": with_bloom} | ({"eth_getLogs": logs} if logs is not None else {}))
    asked = reader(node)
    asked.read_head()
    reading = asked.read(1, 3, Watched.at([SHOP]))
    by_bloom = [each for each in reading.doubts if each.told_by != HINT]  # these blocks hash to nothing
    assert [each.block.number for each in by_bloom] == doubtful
    assert all(each.told_by == "node" for each in by_bloom)


def test_doubts_are_gathered_settled_and_put_off_for_longer_and_longer(resources: Resources) -> None:
    start, asked = resources.clock.now(), []
    with resources.database.write() as session:
        note_doubts(session, LIVE, BASE, [doubt(resources, number) for number in (7, 5, 6)], start)
        assert find_oldest_doubt(session, LIVE, BASE) == 5
        assert find_oldest_doubt(session, LIVE, 1) is find_oldest_doubt(session, EnvMode.TEST, BASE) is None
        for second in range(0, 2_000, 5):
            now = start + timedelta(seconds=second)
            due = list_due_doubts(session, LIVE, BASE, now)
            if due:
                asked.append((second, [each.block.number for each in due]))
                close_doubts(session, LIVE, BASE, due, Settlement(settled=frozenset({5})), now)
        assert asked[:5] == [(10, [5, 6, 7]), (20, [6, 7]), (40, [6, 7]), (80, [6, 7]), (160, [6, 7])]
        assert [second for second, _ in asked[-2:]] == [1520, 1820]
        assert count_doubts(session) == {("live", BASE): 2}


def test_a_doubt_of_a_new_fork_is_not_settled_by_what_the_old_one_held(resources: Resources) -> None:
    now = resources.clock.now()
    with resources.database.write() as session:
        note_doubts(session, LIVE, BASE, [doubt(resources, 5)], now)
        before = list_due_doubts(session, LIVE, BASE, now + timedelta(minutes=1))
        note_doubts(session, LIVE, BASE, [doubt(resources, 5, fork="0b")], now)
        close_doubts(session, LIVE, BASE, before, Settlement(settled=frozenset({5})), now)
        assert [each.block.hash for each in list_due_doubts(session, LIVE, BASE, now + timedelta(minutes=1))] == [
            "0x" + "0b" * 32
        ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Give either --from and --to, or --tx"),
        (("--from", "1"), "Give either --from and --to, or --tx"),
        (("--from", "1", "--to", "2", "--tx", "0x" + "00" * 32), "Give either --from and --to, or --tx"),
        (("--from", "1", "--tx", "0x" + "00" * 32), "Give either --from and --to, or --tx"),
        (("--tx", "0x12"), "Expected 0x and 64 hexadecimal digits"),
        (("--from", "-1", "--to", "2"), "--from"),
        (("--from", "0", "--to", "2"), "is not connected in live; connected are: none"),
    ],
)
def test_the_command_says_what_is_wrong(
    resources: Resources, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", resources.config.database_url)
    monkeypatch.setenv("DATA_DIR", str(resources.config.data_dir))
    result = CliRunner().invoke(main, ["payments", "rescan", "--env", "live", "--chain", "8453", *words])
    assert result.exit_code != 0
    assert message in result.output
