"""What endpoints say of transfers, each by itself, and what is to be believed of that."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from api.domain.ledger import Proof
from api.domain.transfers import Transfer, TransferKey, get_key, moves_the_same
from api.services.ledger.witnesses import Witness


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
    shown : set
        Transfers whose block it has, as it says.
    plain : set
        Of those that are proven: what is proven of their transactions is all that anybody could say of them.
    """

    told: dict[TransferKey, Transfer] = field(default_factory=dict)
    proven: dict[TransferKey, Transfer] = field(default_factory=dict)
    denied: set[TransferKey] = field(default_factory=set)
    untraced: set[TransferKey] = field(default_factory=set)
    unknown: set[TransferKey] = field(default_factory=set)
    shown: set[TransferKey] = field(default_factory=set)
    plain: set[TransferKey] = field(default_factory=set)

    def knows_block(self, key: TransferKey) -> bool:
        """Whether its endpoint has shown the block of a transfer."""
        return key in self.told or key in self.denied or key in self.untraced or key in self.shown


def compare(opinion: Opinion, witness: Witness, asked: Sequence[Transfer], read: Collection[Transfer]) -> None:
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


def weigh(asked: Transfer, opinions: Sequence[Opinion]) -> Proof:
    """Put opinions together.

    Who traced a transaction knows more of it than who could not: what it says of the calls is believed, and is no
    contradiction to the other. Two who agree on what moved are two opinions of it, unless only a trace shows it; of
    whom it names they are two only if both say so. What the transaction's own call names, as who could not trace it
    reads, is named for certain: a trace that says otherwise contradicts it.

    Receipts prove what is in a block, and not that the chain has it: anybody can make a chain of his own. So they are
    no proof while as many endpoints speak and do not have it. Where two have the block, and it proves all that there is
    to say of a transfer, that is what both say, whatever else one of them tells (ADR 146).
    """
    key = get_key(asked)
    told = [opinion.told[key] for opinion in opinions if key in opinion.told]
    traced = [opinion.told[key] for opinion in opinions if key in opinion.told and key not in opinion.untraced]
    called = [opinion.told[key] for opinion in opinions if key in opinion.told and key in opinion.untraced]
    best = traced or told
    unknown = sum(key in opinion.unknown for opinion in opinions)
    shown = sum(opinion.knows_block(key) for opinion in opinions)
    is_shown = shown > unknown
    proven = [opinion.proven[key] for opinion in opinions if key in opinion.proven and is_shown]
    plain = [opinion.proven[key] for opinion in opinions if key in opinion.plain and is_shown and shown > 1]
    agreed = plain or [each for each in best if told.count(each) > 1] or _list_confirmed(called, traced)
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
        transfer=_agree_on_sender(believed, plain or told) if proven or agreed or len(told) > 1 else None,
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


def _core(transfer: Transfer) -> tuple[object, ...]:
    """Return what everybody can see of a transfer, with a trace or without."""
    return transfer.kind, transfer.token_address, transfer.recipient, transfer.amount, transfer.bridge_id


def _is_same(found: Transfer, asked: Transfer) -> bool:
    """Whether it is this very transfer; whom it names is compared between endpoints only."""
    return found.block.hash == asked.block.hash and moves_the_same(found, asked)
