"""Auctions in files: the bodies of requests, compressed by gzip or not."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from routing_engine.auction.model import Auction
from routing_engine.auction.reading import read_auction
from routing_engine.errors import BadAuctionFile, InvalidAuction
from routing_engine.formats.files import read_json


def load_auction(path: Path, chain_id: int = 1) -> Auction:
    """Read a file that holds the body of ``POST /solve``.

    Raises
    ------
    BadAuctionFile
        If it can't be read, or is no auction.
    """
    document = read_json(path, BadAuctionFile, parse_float=Decimal)
    try:
        return read_auction(document, chain_id)
    except InvalidAuction as error:
        raise BadAuctionFile(str(path), error.field, error.message) from error
