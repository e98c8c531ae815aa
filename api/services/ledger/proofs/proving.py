"""How far transfers are proven: by the receipts of their blocks, and by what several endpoints say apart.

Nothing that was answered before is believed: each endpoint is asked anew, and what it says is read anew. So neither
who was asked first matters, nor whether that one lied then or lies now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import structlog

from api.domain.ledger import ChainUnavailable, Proof
from api.domain.transfers import CanonicalBlock, Transfer, TransferKey, get_key, moves_the_same
from api.domain.watched import Watched
from api.services.ledger.proofs.blocks import prove_blocks
from api.services.ledger.proofs.receipts import NotProven
from api.services.ledger.rpc_records import FullBlock
from api.services.ledger.witnesses import Witness

MOST_BLOCKS = 5
"""In one go; the others have their turn when these are proven, or wait to be asked about again."""
MOST_OPINIONS = 3
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What one endpoint says of transfers.

    Parameters
    ----------
    told, proven : mapping
        Transfers as they follow from what it answers, and from receipts that hash to their block.
    denied : set
        Transfers of which it has the block, but that are not in it.
    untraced : set
        Transfers whose transactions it could not trace, so that it knows less of them.
    unknown : set
        Transfers whose block it has not, or not yet.
    """

    told: dict[TransferKey, Transfer] = field(default_factory=dict)
    proven: dict[TransferKey, Transfer] = field(default_factory=dict)
    denied: set[TransferKey] = field(default_factory=set)
    untraced: set[TransferKey] = field(default_factory=set)
    unknown: set[TransferKey] = field(default_factory=set)

    def knows_block(self, key: TransferKey) -> bool:
        """Whether its endpoint has shown the block of a transfer."""
        return key in self.told or key in self.denied or key in self.untraced


class Prover:
    """Proves the transfers of one chain.

    Parameters
    ----------
    chain_id : int
        Of the chain.
    witnesses : sequence of Witness
        Its endpoints, each by itself.
    is_rehearsal : bool
        Whether it may be a developer's chain; see `check_sender`.
    clock : callable
        Seconds; what can't be proven yet is tried again after growing pauses.
    """

    def __init__(
        self, chain_id: int, witnesses: Sequence[Witness], *, is_rehearsal: bool, clock: Callable[[], float]
    ) -> None:
        self._chain_id, self._witnesses, self._is_rehearsal, self._clock = chain_id, witnesses, is_rehearsal, clock
        self._threads = ThreadPoolExecutor(MOST_OPINIONS, thread_name_prefix=f"proofs-{chain_id}")
        self._pauses: dict[TransferKey, tuple[float, float]] = {}

    def prove(self, transfers: Collection[Transfer], watched: Watched) -> Mapping[TransferKey, Proof]:
        """Return how far each transfer is proven; one that was tried a moment ago is left out."""
        asked = self._due(transfers)
        # Who is out of step is heard too: one that tells of a longer chain of its own makes the honest look behind.
        witnesses = sorted(self._witnesses, key=lambda each: not each.in_step)[:MOST_OPINIONS]
        if not asked:
            return {}
        first, *others = witnesses
        later = [self._threads.submit(self._opinion, each, asked, watched, with_receipts=False) for each in others]
        opinions = [self._opinion(first, asked, watched, with_receipts=True), *(each.result() for each in later)]
        for witness, mine in zip(others, opinions[1:], strict=True):
            rest = [each for each in asked if not any(get_key(each) in opinion.proven for opinion in opinions)]
            if rest:
                checked = self._receipts_only(witness, rest, watched)
                mine.proven.update(checked.proven)  # its own word once more is no second one
                mine.denied.update(checked.denied)
                mine.untraced.update(checked.untraced)
        proofs = {get_key(each): _weigh(each, opinions) for each in asked}
        for transfer in asked:
            self._note(transfer, proofs[get_key(transfer)])
        return proofs

    def _opinion(
        self, witness: Witness, asked: Sequence[Transfer], watched: Watched, *, with_receipts: bool
    ) -> Opinion:
        opinion = self._receipts_only(witness, asked, watched) if with_receipts else Opinion()
        rest = [each for each in asked if get_key(each) not in opinion.told and get_key(each) not in opinion.denied]
        try:
            known = witness.reader.load_known_blocks({each.block.number for each in rest}) if rest else {}
            opinion.unknown.update(get_key(each) for each in rest if not _has_block(known, each.block))
            for block in known.values():
                mine = [each for each in rest if each.block.hash == block.block.hash]
                present = {each.tx_hash: block for each in mine if each.tx_hash in block.records}
                _compare(opinion, witness, mine, witness.reader.interpret(witness.reader.read_mined(present), watched))
        except ChainUnavailable as fault:
            log.info("no_opinion", chain_id=self._chain_id, host=witness.host, reason=str(fault))
        return opinion

    def _receipts_only(self, witness: Witness, asked: Sequence[Transfer], watched: Watched) -> Opinion:
        opinion = Opinion()
        blocks = list({each.block.number: each.block for each in asked}.values())
        try:
            attempt = prove_blocks(witness.reader, self._chain_id, blocks)
            for number, block in attempt.proven.items():
                mine = [each for each in asked if each.block.number == number]
                present = {each.tx_hash: block.full for each in mine if each.tx_hash in block.full.records}
                mined = block.mined(self._chain_id, list(present), is_rehearsal=self._is_rehearsal)
                _compare(opinion, witness, mine, witness.reader.interpret(mined, watched))
        except (ChainUnavailable, NotProven) as fault:
            log.info("no_receipt_proof", chain_id=self._chain_id, host=witness.host, reason=str(fault))
        opinion.proven.update(opinion.told)
        return opinion

    def _due(self, transfers: Collection[Transfer]) -> list[Transfer]:
        now = self._clock()
        due = [each for each in transfers if self._pauses.get(get_key(each), (0.0, 0.0))[1] <= now]
        due.sort(key=lambda each: self._pauses.get(get_key(each), (0.0, 0.0))[0])  # what was never tried comes first
        blocks: dict[CanonicalBlock, None] = dict.fromkeys(each.block for each in due)
        allowed = list(blocks)[:MOST_BLOCKS]
        return [each for each in due if each.block in allowed]

    def _note(self, transfer: Transfer, proof: Proof) -> None:
        """Put off what is not proven as far as it could be; forget what is."""
        key, now = get_key(transfer), self._clock()
        if proof.has_receipt_proof and (proof.has_second_opinion or len(self._witnesses) == 1):
            self._pauses.pop(key, None)
            return
        self._pauses = {each: pause for each, pause in self._pauses.items() if pause[1] > now - 2 * LONGEST_PAUSE_S}
        pause = min(2 * self._pauses.get(key, (FIRST_PAUSE_S / 2, 0.0))[0], LONGEST_PAUSE_S)
        self._pauses[key] = (pause, now + pause)
        if proof.is_contradicted:
            log.warning("endpoints_disagree", chain_id=self._chain_id, tx_hash=key[0], log_index=key[1])


def _compare(opinion: Opinion, witness: Witness, asked: Sequence[Transfer], read: Collection[Transfer]) -> None:
    """Sort what was asked about into what was read again, and what is denied."""
    moved = {get_key(each): each for each in read}
    for each in asked:
        key, found = get_key(each), moved.get(get_key(each))
        if each.tx_hash in witness.reader.unread:
            continue  # not read is not denied
        if each.tx_hash in witness.reader.untraced or each.tx_hash in witness.reader.put_off:
            opinion.untraced.add(key)
        is_unsure = each.is_inner and key in opinion.untraced
        if found is not None and (_is_same(found, each) or not is_unsure):
            opinion.told[key] = found  # what lies at this place, if that is another transfer
        elif not is_unsure:
            opinion.denied.add(key)


def _weigh(asked: Transfer, opinions: Sequence[Opinion]) -> Proof:
    """Put opinions together.

    Who traced a transaction knows more of it than who could not: what it says of the calls is believed, and is no
    contradiction to the other. Two who agree on what moved are two opinions of it, unless only a trace shows it; of
    whom it names they are two only if both say so. What the transaction's own call names, as who could not trace it
    reads, is named for certain: a trace that says otherwise contradicts it.

    Receipts prove what is in a block, and not that the chain has it: anybody can make a chain of his own. So they are
    no proof while as many endpoints speak and do not have it.
    """
    key = get_key(asked)
    told = [opinion.told[key] for opinion in opinions if key in opinion.told]
    traced = [opinion.told[key] for opinion in opinions if key in opinion.told and key not in opinion.untraced]
    called = [opinion.told[key] for opinion in opinions if key in opinion.told and key in opinion.untraced]
    best = traced or told
    unknown = sum(key in opinion.unknown for opinion in opinions)
    is_shown = sum(opinion.knows_block(key) for opinion in opinions) > unknown
    proven = [opinion.proven[key] for opinion in opinions if key in opinion.proven and is_shown]
    agreed = [each for each in best if told.count(each) > 1] or _list_confirmed(called, traced)
    known = [each for each in proven if each in best]
    sure = [each for each in agreed if not known or _core(each) in map(_core, known)]
    believed = next(iter(sure or known or best), None)
    is_denied = any(key in opinion.denied for opinion in opinions)
    is_renamed = bool(traced) and any(
        _list_own(each) and each not in _list_confirmed([each], traced) for each in called
    )
    is_split = len({*map(_core, told)}) > 1 or len({*best}) > 1 or is_renamed
    is_agreed = bool(agreed) and believed in agreed
    return Proof(
        has_receipt_proof=bool(proven),
        has_second_opinion=is_agreed or (len(told) > 1 and not is_split and not asked.is_inner),
        has_second_naming=is_agreed,
        is_contradicted=not agreed and (is_denied or is_split),
        is_refuted=len(opinions) > 1 and all(key in opinion.denied for opinion in opinions),
        transfer=_agree_on_sender(believed, told) if proven or agreed or len(told) > 1 else None,
    )


def _list_confirmed(called: Sequence[Transfer], traced: Sequence[Transfer]) -> list[Transfer]:
    """Return what transactions' own calls say and name, where a trace says and names that too."""
    return [
        each
        for each in called
        if _list_own(each) and any(_core(row) == _core(each) and _list_own(each) <= _list_own(row) for row in traced)
    ]


def _list_own(transfer: Transfer) -> frozenset[bytes]:
    """Return the references by which whose money it was names what it is for."""
    return frozenset(each.reference for each in transfer.namings if each.is_own)


def _agree_on_sender(believed: Transfer | None, told: Sequence[Transfer]) -> Transfer | None:
    """Leave the sender out where nobody else says the same: a signature of his would make the money his."""
    if believed is None or len(told) == 1 or sum(each.sender == believed.sender for each in told) > 1:
        return believed
    return replace(believed, sender="")


def _has_block(known: Mapping[int, FullBlock], block: CanonicalBlock) -> bool:
    return block.number in known and known[block.number].block.hash == block.hash


def _core(transfer: Transfer) -> tuple[object, ...]:
    """Return what everybody can see of a transfer, with a trace or without."""
    return transfer.kind, transfer.token_address, transfer.recipient, transfer.amount, transfer.bridge_id


def _is_same(found: Transfer, asked: Transfer) -> bool:
    """Whether it is this very transfer; whom it names is compared between endpoints only."""
    return found.block.hash == asked.block.hash and moves_the_same(found, asked)
