"""Doubtful blocks: what they hold, by another endpoint's events or by all their receipts.

The events of another endpoint are cheap, since one question covers a range. Receipts are large, but need nobody's word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import structlog

from adapters.base import BadPayload
from adapters.bridges.events import EventReader
from adapters.rpc.endpoint import Answer, Question
from api.domain.ledger import ChainUnavailable, Doubt, Reading, Settlement
from api.domain.transfers import CanonicalBlock, Transfer
from api.domain.watched import Watched
from api.services.ledger.candidates import search_addresses
from api.services.ledger.chain_reader import HINT, ChainReader
from api.services.ledger.event_searches import is_relevant, is_transfer, is_wanted, plan_event_searches
from api.services.ledger.proofs.blocks import ProvenBlock, prove_blocks
from api.services.ledger.rpc_records import FoundLog, read_header, read_searches
from api.services.ledger.transfers import Mined
from api.services.ledger.witnesses import Witness

WIDEST = 500
"""Blocks in one search of events."""
MOST_PROVEN = 10
"""Blocks that are proven by their receipts in one go."""

log = structlog.get_logger(__name__)


class DoubtSettler:
    """Settles the doubtful blocks of one chain.

    Parameters
    ----------
    reader : ChainReader
        Of all endpoints, which says what is canonical.
    witnesses : sequence of Witness
        The endpoints, each by itself.
    bridges : sequence of EventReader
        Whose events count on the chain.
    is_rehearsal : bool
        Whether it may be a developer's chain; see `check_sender`.
    """

    def __init__(
        self,
        chain_id: int,
        reader: ChainReader,
        witnesses: Sequence[Witness],
        bridges: Sequence[EventReader],
        *,
        is_rehearsal: bool,
    ) -> None:
        self._chain_id, self._reader, self._witnesses = chain_id, reader, witnesses
        self._bridges, self._is_rehearsal = bridges, is_rehearsal
        self._put_off: set[int] = set()
        self._untraced: dict[str, None] = {}
        self._read: list[tuple[str, str]] = []
        self._refuted = Counter[int]()

    def settle(self, doubts: Collection[Doubt], watched: Watched) -> Settlement:
        """Return what the blocks hold, as far as it can be found out now, without what was read whole before.

        Where a bridge's code could not read a transaction they are read whole, and stay in doubt until it can. What the
        look has no time for is put off.
        """
        self._reader.begin_look()
        self._reader.read_before.begin(watched)
        self._put_off, self._untraced, self._read, self._refuted = set(), {}, [], Counter()
        open_doubts = {each.block.number: each for each in doubts}
        found: list[Transfer] = []
        for method in (self._by_events, self._by_receipts):
            for witness in (each for each in self._witnesses if each.in_step):
                asked = [each for each in self._list_left(open_doubts) if not each.tx_hash]
                try:
                    settlement = method(witness, asked, watched) if asked else Settlement()
                except ChainUnavailable as fault:
                    log.info("doubts_not_settled", chain_id=self._chain_id, host=witness.host, reason=str(fault))
                    self._read.clear()  # what it has told of is lost with it
                    continue
                found += settlement.transfers
                self._note_read()
                unread = {each.block.number for each in witness.reader.unread.values()}
                for number in settlement.settled - unread - self._put_off:
                    del open_doubts[number]
        rest = self._rest(self._list_left(open_doubts), watched)
        settled = {each.block.number for each in doubts} - open_doubts.keys() | rest.settled
        return Settlement(
            transfers=(*found, *rest.transfers),
            settled=frozenset(settled),
            put_off=frozenset(self._put_off & open_doubts.keys()),
            untraced=tuple(self._untraced),
        )

    def _list_left(self, open_doubts: Mapping[int, Doubt]) -> list[Doubt]:
        """Return the doubts that are to be settled still, of which none was put off."""
        return [each for number, each in open_doubts.items() if number not in self._put_off]

    def _interpret(self, reader: ChainReader, mined: Sequence[Mined], watched: Watched) -> tuple[Transfer, ...]:
        """Read transactions that were not read whole before, with what the look has left."""
        before = self._reader.read_before
        fresh = [each for each in mined if not before.has(each.transaction.tx_hash, each.block.hash)]
        found = reader.interpret(fresh, watched, self._reader.budget)
        self._put_off |= {block.number for block in reader.put_off.values()}
        for each in fresh:
            if each.transaction.tx_hash in reader.untraced:
                self._untraced[each.transaction.tx_hash] = None
            elif each.transaction.tx_hash not in reader.put_off and each.transaction.tx_hash not in reader.unread:
                self._read.append((each.transaction.tx_hash, each.block.hash))
        return found

    def _note_read(self) -> None:
        for tx_hash, block_hash in self._read:
            self._reader.read_before.note(tx_hash, block_hash)
        self._read.clear()

    def _by_events(self, witness: Witness, doubts: Sequence[Doubt], watched: Watched) -> Settlement:
        """Ask an endpoint for the events of blocks of which another told."""
        asked = {each.block.number: each.block for each in doubts if each.told_by not in (HINT, witness.host)}
        found: list[Transfer] = []
        settled: set[int] = set()
        for portion in _stretches(sorted(asked)):
            questions = plan_event_searches(portion[0], portion[-1], watched, self._bridges)
            headers: list[Question] = [("eth_getBlockByNumber", [hex(number), False]) for number in portion]
            events, blocks = witness.reader.ask([*questions, *headers], _reads(len(questions)))
            same = {block.number for block in blocks if asked.get(block.number, block).hash == block.hash}
            before = self._reader.read_before
            here = [
                each
                for each in events
                if each.log.block_number in same & asked.keys() and not before.has(each.tx_hash, each.log.block_hash)
            ]
            if any(each.log.block_hash != asked[each.log.block_number].hash for each in here):
                raise ChainUnavailable(f"{witness.host}: events are of another fork than their blocks")
            relevant = self._relevant(witness.reader, here, watched)
            found += self._interpret(witness.reader, list(witness.reader.load_mined(relevant)), watched)
            settled |= same & asked.keys()
        return Settlement(transfers=tuple(found), settled=frozenset(settled))

    def _relevant(self, reader: ChainReader, events: Sequence[FoundLog], watched: Watched) -> list[FoundLog]:
        """Return the events that may matter; of a bridge's, whether its transaction names anybody has to be asked."""
        sure = [each for each in events if is_relevant(each, watched, self._bridges)]
        unsure = [each for each in events if each not in sure and not is_transfer(each)]
        questions: list[Question] = [("eth_getTransactionByHash", [each.tx_hash]) for each in unsure]
        inputs = reader.ask(questions, _read_inputs) if questions else []
        search = search_addresses(watched.recipients)
        return [*sure, *(each for each, text in zip(unsure, inputs, strict=True) if search.is_named_in(text))]

    def _by_receipts(self, witness: Witness, doubts: Sequence[Doubt], watched: Watched) -> Settlement:
        blocks = [each.block for each in doubts][:MOST_PROVEN]
        attempt = prove_blocks(witness.reader, self._chain_id, blocks, is_rehearsal=self._is_rehearsal)
        self._refuted.update(attempt.refuted)
        found: list[Transfer] = []
        settled: set[int] = set()
        for number, block in attempt.proven.items():
            try:
                found += self._moved(witness.reader, block, watched)
            except BadPayload as fault:
                log.warning("block_not_proven", chain_id=self._chain_id, block_number=number, reason=str(fault))
            else:
                settled.add(number)
        return Settlement(transfers=tuple(found), settled=frozenset(settled))

    def _moved(self, reader: ChainReader, block: ProvenBlock, watched: Watched) -> tuple[Transfer, ...]:
        events = [each for each in block.events() if is_wanted(each, watched, self._bridges)]
        hashes = reader.choose({block.full.block.number: block.full}, events, watched)
        present = [tx_hash for tx_hash in hashes if tx_hash in block.receipts]
        mined = block.mined(self._chain_id, present, is_rehearsal=self._is_rehearsal)
        return self._interpret(reader, list(mined), watched)

    def _rest(self, doubts: Sequence[Doubt], watched: Watched) -> Settlement:
        """Drop blocks that are not canonical any more; read those of hints as the others are read, if nothing helps."""
        found: list[Transfer] = []
        settled: set[int] = set()
        try:
            canonical = self._reader.read_blocks([each.block.number for each in doubts])
            for doubt in doubts:
                number, now = doubt.block.number, canonical.get(doubt.block.number)
                if now is not None and now.hash != doubt.block.hash:
                    settled.add(number)
                elif now is not None and (doubt.told_by == HINT or doubt.tx_hash):
                    reading = self._reader.read_again(number, watched)
                    found += reading.transfers
                    self._untraced |= dict.fromkeys(reading.untraced)
                    self._put_off |= {each.block.number for each in reading.put_off}
                    is_open = self._is_open(reading) or reading.put_off or self._reader.untold
                    settled |= set() if is_open else {number}
        except ChainUnavailable as fault:
            log.info("doubts_not_settled", chain_id=self._chain_id, reason=str(fault))
        return Settlement(transfers=tuple(found), settled=frozenset(settled))

    def _is_open(self, reading: Reading) -> bool:
        """Whether a block that was read again is in doubt still.

        What does not hash to it may be all that it holds, of a kind that is not known here: if nobody can prove it.
        """
        return any(
            each.tx_hash or (each.told_by == HINT and self._refuted[each.block.number] < len(self._witnesses))
            for each in reading.doubts
        )


def _reads(searches: int) -> Callable[[list[Answer]], tuple[list[FoundLog], list[CanonicalBlock]]]:
    def parse(answers: list[Answer]) -> tuple[list[FoundLog], list[CanonicalBlock]]:
        return read_searches(answers[:searches]), [
            read_header(answer) for answer in answers[searches:] if answer is not None
        ]

    return parse


def _read_inputs(answers: list[Answer]) -> list[object]:
    if not all(isinstance(answer, dict) for answer in answers):
        raise BadPayload("a transaction of an event is not there")
    return [answer.get("input") for answer in answers]


def _stretches(numbers: Sequence[int]) -> Iterator[list[int]]:
    """Return portions of ascending numbers that one search covers."""
    portion: list[int] = []
    for number in numbers:
        if portion and number - portion[0] >= WIDEST:
            yield portion
            portion = []
        portion.append(number)
    if portion:
        yield portion
