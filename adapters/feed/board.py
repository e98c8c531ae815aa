"""States for other processes: one worker reads the sources, everybody routes on what it found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError

from adapters.base import BadPayload, VenueUnavailable
from adapters.feed.codec import BoardHead, pack_delta, pack_head, pack_whole, unpack_delta, unpack_head, unpack_whole
from adapters.feed.state import State

MAX_DELTAS = 64
"""After so many changes the whole is written again, so that a newcomer has little to catch up on."""
TTL_S = 3_600
"""A market that nobody has written for an hour is gone."""


class Board(Protocol):
    """Where the newest state hangs."""

    def publish(self, state: State) -> None:
        """Hang up a state in place of the one before; raises `VenueUnavailable`."""
        ...

    def read_latest(self) -> State:
        """Return the newest state.

        Raises
        ------
        VenueUnavailable
            If there is none, or it cannot be reached.
        BadPayload
            If it is damaged, or of a version that this one cannot read.
        """
        ...


class RedisBoard:
    """A board in Redis: the whole market now and then, what changed since, and a head that says what is newest.

    All three are replaced in one transaction. A reader checks every part against the snapshot ids that the head and the
    parts name; ids are content hashes, so nothing damaged or mixed up passes. One process writes, any number read; an
    object is for one of the two, and for one thread.

    Parameters
    ----------
    client : Redis
        Answers bytes.
    name : str
        Prefix of the keys, for several markets in one Redis.
    """

    def __init__(self, client: Redis, name: str = "market") -> None:
        self._client = client
        self._head_key, self._whole_key, self._deltas_key = (f"{name}:{part}" for part in ("head", "whole", "deltas"))
        self._state: State | None = None
        self._written = b""
        self._number = self._base = 0

    def publish(self, state: State) -> None:
        """Write what changed since the last time, or everything if somebody else has written since."""
        try:
            with self._client.pipeline() as pipe:
                pipe.watch(self._head_key)  # type: ignore[no-untyped-call]  # redis-py has no types here
                mine = self._state is not None and pipe.get(self._head_key) == self._written
                pipe.multi()
                self._write(pipe, state, self._state if mine else None)
                pipe.execute()
        except RedisError as error:
            self._state = None  # nobody knows what was written, so the next time everything is
            raise VenueUnavailable(f"redis: {type(error).__name__}") from error
        self._state = state

    def read_latest(self) -> State:
        """Read the head, and what else it takes to know the state that it names."""
        try:
            state, head = self._catch_up() or self._read_whole()
        except RedisError as error:
            raise VenueUnavailable(f"redis: {type(error).__name__}") from error
        self._number, self._base = head.number, head.base
        self._state = replace(state, sources=head.sources)
        return self._state

    def _write(self, pipe: Pipeline, state: State, last: State | None) -> None:
        is_same = last is not None and last.snapshot.id == state.snapshot.id and last.owners == state.owners
        self._number += not is_same
        if last is None or self._number - self._base > MAX_DELTAS:
            self._base = self._number
            pipe.set(self._whole_key, pack_whole(state))
            pipe.delete(self._deltas_key)
        elif not is_same:
            pipe.rpush(self._deltas_key, pack_delta(state, last))
        head = BoardHead(number=self._number, base=self._base, snapshot_id=state.snapshot.id, sources=state.sources)
        self._written = pack_head(head)
        pipe.set(self._head_key, self._written)
        for key in (self._head_key, self._whole_key, self._deltas_key):
            pipe.expire(key, TTL_S)

    def _catch_up(self) -> tuple[State, BoardHead] | None:
        """Follow the changes from the state that is known; None where they do not lead to the head."""
        if self._state is None:
            return None
        head, deltas = self._read(self._number - self._base)
        try:
            state = self._apply_all(self._state, deltas)
        except BadPayload:
            return None
        return (state, head) if state.snapshot.id == head.snapshot_id else None

    def _read_whole(self) -> tuple[State, BoardHead]:
        with self._client.pipeline(transaction=True) as pipe:
            pipe.get(self._whole_key)
            pipe.get(self._head_key)
            pipe.lrange(self._deltas_key, 0, -1)
            whole, head, deltas = pipe.execute()
        if whole is None or head is None:
            raise VenueUnavailable("redis: no market has been published yet")
        found = unpack_head(head)
        state = self._apply_all(unpack_whole(whole), deltas)
        if state.snapshot.id != found.snapshot_id:
            raise BadPayload(f"redis: the parts lead to {state.snapshot.id}, not to {found.snapshot_id}")
        return state, found

    def _read(self, start: int) -> tuple[BoardHead, list[bytes]]:
        with self._client.pipeline(transaction=True) as pipe:
            pipe.get(self._head_key)
            pipe.lrange(self._deltas_key, start, -1)
            head, deltas = pipe.execute()
        if head is None:
            raise VenueUnavailable("redis: no market has been published yet")
        return unpack_head(head), deltas

    def _apply_all(self, state: State, deltas: Iterable[bytes]) -> State:
        for delta in deltas:
            state = unpack_delta(delta, state)
        return state
