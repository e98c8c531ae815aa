"""What a request names, looked up in the snapshot that it is asked of: tokens, protocols and chains."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from routing_engine.errors import InvalidRequest, UnknownToken
from routing_engine.graph.graph import Graph
from routing_engine.model import Token
from routing_engine.request import RouteRequest
from routing_engine.request_fields import show
from routing_engine.snapshot.snapshot import Snapshot


def resolve(request: RouteRequest | object, snapshot: Snapshot, graph: Graph) -> RouteRequest:
    """Return the request with the snapshot's own tokens in the place of names and of tokens like them.

    Parameters
    ----------
    request : RouteRequest
        Tokens as such or by name.
    snapshot, graph : Snapshot, Graph
        What it is asked of.

    Raises
    ------
    InvalidRequest
        Naming the field, if the snapshot has no such token, protocol or chain, or a token of other decimals; or if it
        is no request.
    """
    if not isinstance(request, RouteRequest):
        remedy = "make one: RouteRequest(token_in=…, token_out=…, amount=…)"
        raise InvalidRequest("request", f"must be a RouteRequest, not {show(request)}; {remedy}")
    token_in = find_token(request.token_in, snapshot, graph, "token_in")
    token_out = find_token(request.token_out, snapshot, graph, "token_out")
    if request.allow_protocols or request.deny_protocols:
        check_protocols(request.allow_protocols or (), graph.protocols, "allow_protocols")
        check_protocols(request.deny_protocols, graph.protocols, "deny_protocols")
    check_chains(request.gas_prices or (), graph.chains, "gas_prices")
    check_chains(request.allow_chains or (), graph.chains, "allow_chains")
    check_chains(request.deny_chains, graph.chains, "deny_chains")
    if token_in is request.token_in and token_out is request.token_out:
        return request
    return replace(request, token_in=token_in, token_out=token_out)


def require_snapshot(snapshot: object) -> Snapshot:
    """Return a snapshot; raise `InvalidRequest` for anything else, such as the name of a file."""
    if not isinstance(snapshot, Snapshot):
        raise InvalidRequest("snapshot", f"must be a Snapshot, not {show(snapshot)}; read one: Snapshot.load(path)")
    return snapshot


def find_token(token: Token | str, snapshot: Snapshot, graph: Graph, field: str) -> Token:
    """Return the snapshot's token that is meant.

    Parameters
    ----------
    token : Token or str
        A token, or a name as `Snapshot.token` takes it.
    snapshot, graph : Snapshot, Graph
        Where to look.
    field : str
        For the error.

    Raises
    ------
    InvalidRequest
        If there is none, if there are several, or if it has other decimals here.
    """
    if isinstance(token, str):
        try:
            return snapshot.token(token)
        except InvalidRequest as error:
            raise type(error)(field, f"{error.message}{_say_empty(snapshot)}") from error
    number = graph.index.get(token)
    known = snapshot.tokens.at(token.chain_id, token.address) if number is None else graph.tokens[number]
    if known is None:
        remedy = _say_empty(snapshot) or f"; look tokens up with snapshot.token({str(token)!r})"
        raise UnknownToken(field, f"{token} ({token.key}) is not in this market{remedy}")
    if known is not token and known.decimals != token.decimals:
        message = f"{token} has {known.decimals} decimals in this market, not {token.decimals}; take its token"
        raise InvalidRequest(field, f"{message}: snapshot.token({token.key!r})")
    return known


def check_protocols(names: Collection[str], known: Collection[str], field: str) -> None:
    """Check names of protocols: one that is mistyped would silently admit or exclude nothing.

    Raises
    ------
    InvalidRequest
        Naming the field, the first unknown name, and what is like it.
    """
    for name in names:
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, 1)
            meant = f"did you mean {near[0]}? Here " if near else "here "
            raise InvalidRequest(
                field, f"no market here is of protocol {name!r}; {meant}are {', '.join(sorted(known)) or 'none'}"
            )


def check_chains(chain_ids: Iterable[int], known: Collection[int], field: str) -> None:
    """Check ids of chains: a wrong one would silently price, admit or exclude nothing.

    Raises
    ------
    InvalidRequest
        Naming the field, the first unknown chain, and those that are known.
    """
    for chain_id in chain_ids:
        if chain_id not in known:
            here = ", ".join(map(str, sorted(known))) or "none"
            raise InvalidRequest(field, f"chain {chain_id} is not in this snapshot; its chains are {here}")


def read_market_ids(ids: Any, known: Collection[str], field: str) -> frozenset[str]:
    """Return ids of markets, all of them known: one that is mistyped would leave nothing out.

    Raises
    ------
    InvalidRequest
        Naming the field, if it is no collection of ids, or the first unknown one and what is like it.
    """
    if isinstance(ids, frozenset) and not ids:
        return ids
    is_collection = isinstance(ids, Collection) and not isinstance(ids, str | bytes)
    if not is_collection or not all(isinstance(each, str) for each in ids):
        raise InvalidRequest(field, f"must be a collection of market ids, such as [hop.market_id], not {show(ids)}")
    found = frozenset(ids)
    for unknown in sorted(each for each in found if each not in known):
        import difflib

        near = difflib.get_close_matches(unknown, known, 1)
        meant = f"did you mean {near[0]!r}?" if near else "snapshot.markets has them by id"
        raise InvalidRequest(field, f"no market here has the id {unknown!r}; {meant}")
    return found


def _say_empty(snapshot: Snapshot) -> str:
    return "" if snapshot.markets else "; the snapshot has no markets at all, so load or build one that has"
