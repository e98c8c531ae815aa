"""Auctions in files: the bodies of requests, compressed by gzip or not."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path

from routing_engine.auction.model import Auction
from routing_engine.auction.reading import read_auction
from routing_engine.errors import BadAuctionFile, InvalidAuction

GZIP = b"\x1f\x8b"


def load_auction(path: Path, chain_id: int = 1) -> Auction:
    """Read a file that holds the body of ``POST /solve``.

    Raises
    ------
    BadAuctionFile
        If it can't be read, or is no auction.
    """
    try:
        content = path.read_bytes()
        text = gzip.decompress(content) if content.startswith(GZIP) else content
        return read_auction(json.loads(text, parse_float=Decimal), chain_id)
    except OSError as error:
        raise BadAuctionFile(str(path), "", f"cannot be read ({error.strerror or error})") from error
    except InvalidAuction as error:
        raise BadAuctionFile(str(path), error.field, error.message) from error
    except (ValueError, RecursionError, EOFError) as error:
        raise BadAuctionFile(str(path), "", f"is no JSON: {str(error)[:120]}") from error
