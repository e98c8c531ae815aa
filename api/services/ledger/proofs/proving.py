"""How far transfers are proven: by the receipts of their blocks, and by what several endpoints say apart.

Nothing that was answered before is believed: each endpoint is asked anew, and what it says is read anew. So neither
who was asked first matters, nor whether that one lied then or lies now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import structlog

from adapters.base import BadPayload
from api.domain.ledger import ChainUnavailable, Proof
from api.domain.transfers import CanonicalBlock, Transfer, TransferKey, get_key
from api.domain.watched import Watched
from api.services.ledger.evidence.calldata import is_simple
from api.services.ledger.hashes.contents import is_whole
from api.services.ledger.proofs.blocks import prove_blocks
from api.services.ledger.proofs.opinions import Opinion, compare, weigh
from api.services.ledger.rpc_records import FullBlock
from api.services.ledger.witnesses import Witness

MOST_BLOCKS = 5
"""In one go; the others have their turn when these are proven, or wait to be asked about again."""
MOST_OPINIONS = 3
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0

log = structlog.get_logger(__name__)


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
                mine.plain.update(checked.plain)
                mine.denied.update(checked.denied)
                mine.untraced.update(checked.untraced)
        proofs = {get_key(each): weigh(each, opinions) for each in asked}
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
                opinion.shown.update(map(get_key, mine))
                present = {each.tx_hash: block for each in mine if each.tx_hash in block.records}
                if any(each.tx_hash not in present for each in mine) and not is_whole(
                    block, is_rehearsal=self._is_rehearsal
                ):
                    log.warning(
                        "block_told_in_part",
                        chain_id=self._chain_id,
                        host=witness.host,
                        block_number=block.block.number,
                    )
                    mine = [each for each in mine if each.tx_hash in present]  # left out is not denied
                compare(opinion, witness, mine, witness.reader.interpret(witness.reader.read_mined(present), watched))
        except ChainUnavailable as fault:
            log.info("no_opinion", chain_id=self._chain_id, host=witness.host, reason=str(fault))
        return opinion

    def _receipts_only(self, witness: Witness, asked: Sequence[Transfer], watched: Watched) -> Opinion:
        opinion = Opinion()
        blocks = list({each.block.number: each.block for each in asked}.values())
        try:
            attempt = prove_blocks(witness.reader, self._chain_id, blocks, is_rehearsal=self._is_rehearsal)
            for number, block in attempt.proven.items():
                mine = [each for each in asked if each.block.number == number]
                present = {each.tx_hash: block.full for each in mine if each.tx_hash in block.full.records}
                mined = block.mined(self._chain_id, list(present), is_rehearsal=self._is_rehearsal)
                compare(opinion, witness, mine, witness.reader.interpret(mined, watched))
                simple = {
                    each.transaction.tx_hash
                    for each in mined
                    if is_simple(self._chain_id, each.transaction, each.receipt)
                }
                opinion.plain.update(key for key in map(get_key, mine) if key[0] in simple and key in opinion.told)
        except (ChainUnavailable, BadPayload) as fault:
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


def _has_block(known: Mapping[int, FullBlock], block: CanonicalBlock) -> bool:
    return block.number in known and known[block.number].block.hash == block.hash
