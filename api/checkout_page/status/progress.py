"""The stages of a payment in the customer's words: what is done, what is going on, and for how long as a rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from api.checkout_page.language.strings import Strings, fill
from api.checkout_page.money.amounts import format_duration
from api.checkout_page.money.transfers import link_transaction, name_chain, name_protocol
from api.services.checkout.journey import Stage, StageKind, StageState
from api.services.orders.views import PublicOrder

PATIENCE = 2
"""What takes more than so many times as long as expected is late."""
PATIENCE_S = 20
"""And so many seconds more: a few are nothing to be told of."""
LATE_UNKNOWN_S = 300
"""Where nothing is expected."""
HASH_ENDS = (8, 6)
"""Of a hash that is shown in short: characters at its beginning and at its end."""

LONG_S = 300
"""A wait that is explained."""
FINAL_STAGES = frozenset({StageKind.CONFIRMED, StageKind.RECEIVED})
"""They last until the network can't take the payment back any more."""
SLOW_BRIDGE = "canonical"
"""A network's own bridge, which may take days."""

Step = Mapping[str, str | int | bool | None]


def describe_stages(
    stages: Iterable[Stage], order: PublicOrder, now: datetime, strings: Strings, merchant: str
) -> Iterator[Step]:
    """Yield each stage for the page.

    These are ``name``, ``state``, ``label``, ``state_text``, ``expected_text`` and ``late_text``; ``elapsed_s``
    and ``elapsed`` while it goes on, ``late_after_s`` and ``is_late``; ``hash``, ``hash_text``, ``explorer_url``.
    """
    for stage in stages:
        words = fill(
            strings.journey[stage.kind],
            merchant=merchant,
            chain=name_chain(stage.chain_id) if stage.chain_id is not None else strings.steps["network"],
            protocol=name_protocol(stage.protocol, strings),
            sold=stage.sold,
            bought=stage.bought,
        )
        yield {
            "name": stage.kind,
            "state": stage.state,
            "label": words[stage.state],
            "state_text": _describe_state(stage, strings),
            **_describe_time(stage, now, strings, words.get("late", "")),
            **_describe_hash(stage, order),
        }


def format_elapsed(seconds: int) -> str:
    """Write how long something goes on as a clock does: 0:05, 12:34, 1:02:03."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _describe_state(stage: Stage, strings: Strings) -> str:
    text = strings.steps[stage.state]
    if stage.state != StageState.DONE or stage.began_at is None or stage.ended_at is None:
        return text
    took = max(0, round((stage.ended_at - stage.began_at).total_seconds()))
    return strings.steps["took"].format(done=text, duration=format_duration(took, strings))


def _describe_time(stage: Stage, now: datetime, strings: Strings, late_text: str) -> Step:
    is_under_way = stage.state == StageState.NOW
    expected_s = None if stage.state == StageState.DONE else stage.expected_s
    late_after_s = LATE_UNKNOWN_S if expected_s is None else PATIENCE * expected_s + PATIENCE_S
    # A block's own time may be ahead of this clock.
    elapsed_s = max(0, int((now - stage.began_at).total_seconds())) if is_under_way and stage.began_at else None
    return {
        "elapsed_s": elapsed_s,
        "elapsed": "" if elapsed_s is None else format_elapsed(elapsed_s),
        "expected_text": "" if stage.state == StageState.DONE else describe_usual(stage, strings),
        "late_text": late_text if is_under_way else "",
        "late_after_s": late_after_s,
        "is_late": elapsed_s is not None and elapsed_s > late_after_s,
    }


def describe_usual(stage: Stage, strings: Strings) -> str:
    """Say how long a stage takes as a rule, and why where a large payment waits long."""
    words = strings.steps
    if not stage.expected_s:
        return words["usual_bridge"] if stage.kind == StageKind.BRIDGED and stage.protocol != SLOW_BRIDGE else ""
    usual = words["usual"].format(duration=format_duration(stage.expected_s, strings))
    waits = stage.kind in FINAL_STAGES and stage.expected_s >= LONG_S
    return words["usual_final"].format(usual=usual) if waits else usual


def _describe_hash(stage: Stage, order: PublicOrder) -> Step:
    start, end = HASH_ENDS
    link = link_transaction(order, stage.chain_id, stage.tx_hash) if stage.chain_id is not None else None
    return {
        "hash": stage.tx_hash,
        "hash_text": f"{stage.tx_hash[:start]}…{stage.tx_hash[-end:]}" if stage.tx_hash else "",
        "explorer_url": link if stage.tx_hash else None,
    }
