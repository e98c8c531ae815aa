"""Requests that no schema describes: odd numbers, texts, bodies, headers, addresses and methods."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from hypothesis import strategies as st

from api.bodies.request_body import MAX_BODY_BYTES, MOST_NESTED
from api.openapi.document import list_operations
from tests.fuzz.known import Sense
from tests.fuzz.wire import Request

JSON_TYPE = ("Content-Type", b"application/json")
FRAGMENTS = (
    *("0", "-0", "-1", "1.0", "0.1", "1e2", "1E+1000000", "-1e400", "1e400", "NaN", "-Infinity", "9" * 79, "9" * 5000),
    *(str(2**power + step) for power in (31, 53, 63, 64, 256) for step in (-1, 0)),
    *('"1e5"', '"٣"', '"１"', '"+1"', '" 1"', '"0x1f"', '"1_000"', '"' + "9" * 79 + '"', '"-0"', '"1.0"', '"∞"'),
    *('"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udfff\\ud800"', '"\\ud83d\\ude00"', '"\\ufeff"', '"\\u202eevil"'),
    *('""', '" "', '"\\n"', '"../../etc/passwd"', '"\' OR 1=1--"', '"<script>alert(1)</script>"', '"%00"', '"{{7*7}}"'),
    *("null", "true", "false", "[]", "{}", "[[]]", '[null,"a",{}]', '{"":""}', '{"__proto__":{"a":1}}', "{", '"open'),
    "[" * (MOST_NESTED - 10) + "]" * (MOST_NESTED - 10),
    "[" * 30_000 + "]" * 30_000,
    '{"a":' * 9_000 + "1" + "}" * 9_000,
    '"' + "a" * 60_000 + '"',
    '"' + "\U0001f375" * 15_000 + '"',
    "[" + ",".join(["0"] * 20_000) + "]",
)
"""JSON, or almost."""
TEXTS = st.text(max_size=40).map(json.dumps)
NUMBERS = st.one_of(st.integers(), st.floats(), st.decimals(allow_nan=False, allow_infinity=False)).map(str)
TREES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=9), st.lists).map(json.dumps)
FRAGMENT = st.one_of(st.sampled_from(FRAGMENTS), TEXTS, NUMBERS, TREES)
TYPES = (
    *("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary=x"),
    *("application/json; charset=utf-16", "application/json; charset=bogus", "application/vnd.api+json", "", "json"),
    *("application/xml", "application/json, text/plain", "application/JSON", "a" * 3_000, "application/json;" * 40),
)
HEADERS = st.sampled_from(
    (
        *(
            ("Idempotency-Key", each)
            for each in (b"", b" ", b"k" * 255, b"k" * 256, b"\xff\xfe", "é😀".encode(), b"a\tb")
        ),
        *(("X-Request-Id", each) for each in (b"", b"r" * 129, b"<b>", b"\xc3\xa9", b"fine.id-1")),
        *(("If-None-Match", each) for each in (b"*", b'"', b'W/"x"', b"\xff", b'"a", "b"', b'"' * 999)),
        *(("Accept", each) for each in (b"", b"text/html", b"*/*;q=0", b"\xff", b"a/b" * 500)),
        *(("Accept-Encoding", each) for each in (b"br", b"gzip;q=nan", b"zstd, br;q=0", b"\xff", b"identity;q=0")),
        *(("Accept-Language", each) for each in (b"de", b"xx-YY;q=2", b"\xff", b"en," * 900, b"*;q=1e999")),
        *(("X-Http-Method-Override", each) for each in (b"DELETE", b"PATCH", b"\xff")),
        *(("Origin", each) for each in (b"null", b"https://evil.example", b"\xff")),
        *(("X-Forwarded-For", each) for each in (b"127.0.0.1", b"\xff", b"1.1.1.1," * 500)),
        *(("Range", each) for each in (b"bytes=0-0", b"bytes=-1", b"bytes=9999999999999999999999-", b"\xff")),
        *(("Cookie", each) for each in (b"session=1; session=2", b"\xff=\xfe", b"=" * 999)),
        *(("Authorization", each) for each in (b"Bearer x", b"Basic Og==", b"\xff", b"Digest " + b"a" * 999)),
        *(("Content-Encoding", each) for each in (b"gzip", b"br", b"bogus")),
        *(("If-Modified-Since", each) for each in (b"Sat, 99 Foo 9999", b"\xff")),
        *(("Last-Event-Id", each) for each in (b"\xff", b"9" * 999)),
        *((name, b"x" * 9_000) for name in ("X-Api-Key", "X-Anything", "User-Agent", "Referer")),
        *(
            ("X-Api-Key", each)
            for each in (b"\xff", b"sk_test_", b"sk_live_" + b"A" * 43, b"a b", "sk_test_ключ".encode())
        ),
        ("Expect", b"100-continue"),
        ("Upgrade", b"h2c"),
        ("Forwarded", b"for=_hidden;proto=https"),
    )
)
IN_PATHS = (
    *(
        "%00",
        "%2F",
        "%2e%2e%2f",
        "%ff",
        "%ed%a0%80",
        "%F0%9F%8D%B5",
        "%",
        "%zz",
        "..",
        ".",
        "*",
        "{}",
        "~",
        "a" * 8_000,
    ),
    *(
        "po_",
        "PO_" + "0" * 36,
        "po_" + "z" * 36,
        "po_" + "0" * 36 + "%00",
        "'",
        '"',
        "%0d%0aX-Evil:1",
        ";x=1",
        "é",
        "-1",
        "0",
    ),
)
IN_QUERIES = (
    *(
        "%",
        "%zz",
        "%ff",
        "%00",
        "a=%ed%a0%80",
        "=",
        "&&&",
        "limit=1&limit=2",
        "limit=1e2",
        "limit=-1",
        "limit=0",
        "limit=٣",
    ),
    *(
        "limit=" + "9" * 5_000,
        "cursor=%00",
        "cursor=%ff",
        "cursor=" + "a" * 5_000,
        "since=9999-12-31T23:59:59Z",
        "since=0001",
    ),
    *(
        "since=-262143-01-01T00:00:00Z",
        "since=1e999",
        "created_from=2026-02-30T00:00:00Z",
        "created_from=0000-01-01T00:00Z",
    ),
    *(
        "metadata[a]=%ff",
        "metadata[a][b]=c",
        "metadata[]=1",
        "metadata=1",
        "metadata[%00]=%00",
        "metadata[a]=1&metadata[a]=2",
    ),
    *(
        "env_mode=TEST",
        "env_mode[]=test",
        "status=created&status=",
        "unknown=1",
        "_method=DELETE",
        "payer=0x" + "f" * 40,
    ),
    *(
        "transaction_hash=0x" + "0" * 64,
        "tokens=full&tokens=",
        "search=%",
        "search=" + "%F0%9F%8D%B5" * 300,
        "chainId=1e0",
    ),
)
METHODS = ("HEAD", "OPTIONS", "TRACE", "PUT", "PATCH", "DELETE", "CONNECT", "FOO", "get", "PROPFIND", "M" * 300)
PAGES = (
    *(("GET", f"/payment/{{order_id}}{end}") for end in ("", "/status", "/code.svg", "/tokens", "/claim")),
    *(("POST", f"/payment/{{order_id}}/{end}") for end in ("options", "quote", "pay", "transactions", "report")),
    *(("POST", f"/payment/{{order_id}}/{end}") for end in ("simulate", "claim")),
    *(("GET", path) for path in ("/", "/docs", "/openapi.json", "/healthz", "/readyz", "/metrics", "/favicon.ico")),
    *(("GET", f"/static/{path}") for path in ("x", "..%2f..%2fapi%2fapp.py", "%00", "css")),
)
PAGE_BODY: Mapping[str, Any] = {
    **{"chain_id": 8453, "token_address": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "account": "0x" + "ab" * 20},
    **{"quote_id": "", "tx_hash": "0x" + "cd" * 32, "action": "pay", "signature": "0x" + "ef" * 65},
}


@dataclass(frozen=True, kw_only=True)
class Odd:
    """What was drawn for one request, whether it is used or not: what is drawn must not depend on answers."""

    fragment: str
    headers: list[tuple[str, bytes]]
    text: str
    raw: bytes


ODD = st.builds(
    Odd,
    fragment=FRAGMENT,
    headers=st.lists(HEADERS, min_size=1, max_size=3),
    text=st.text(min_size=1, max_size=20),
    raw=st.binary(max_size=60),
)


@dataclass(frozen=True)
class Base:
    """An operation, and the example of its body."""

    method: str
    path: str
    body: Any = None


def list_bases(document: Mapping[str, Any]) -> list[Base]:
    """Return every operation of the document."""
    return [
        Base(
            method.upper(),
            path,
            described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example"),
        )
        for path, method, described in list_operations(document)
    ]


def make_request(base: Base, sense: Sense, template: str | None = None) -> Request:
    """Return a request that means something, to be made strange."""
    path = base.path
    while "{" in path:
        name = path[path.index("{") + 1 : path.index("}")]
        path = path.replace(f"{{{name}}}", sense.choose_id(name))
    head = () if sense.caller.key is None else (("X-Api-Key", sense.caller.key.encode()),)
    body = None if base.body is None else json.dumps(sense.improve(base.body, 0.9)).encode()
    meant = base.path if template is None else template
    return Request(
        method=base.method, target=path, template=meant, head=(*head, JSON_TYPE) if body else head, body=body
    )


def spoil_value(request: Request, base: Base, odd: Odd, dice: Random) -> Request:
    """Put a fragment in the place of a property, beside all of them, or of the whole body."""
    fragment = odd.fragment
    body = json.loads(request.body) if request.body else {}
    holder, kind = body, dice.choice(("replace", "replace", "replace", "add", "twice", "whole", "name"))
    while kind == "replace" and any(inner := [each for each in holder.values() if isinstance(each, dict) and each]):
        if dice.random() < 0.5:
            break
        holder = dice.choice(inner)
    names = sorted(name for name in holder if name != "webhook_url")
    if kind == "whole":
        return replace(request, body=fragment.encode("utf-8", "surrogatepass"), head=_typed(request.head))
    name = dice.choice(names) if names and kind != "add" else "odd"
    if kind == "replace" and names:
        holder[name] = MARK
        text = json.dumps(body).replace(json.dumps(MARK), fragment, 1)
    else:
        key = fragment if kind == "name" and fragment.startswith('"') else json.dumps(name)
        text = json.dumps(body).rstrip("}") + (", " if body else "") + f"{key}: {fragment}" + "}" * _count_ends(body)
    return replace(request, body=text.encode("utf-8", "surrogatepass"), head=_typed(request.head))


MARK = "\x01here\x01"


def _count_ends(body: Any) -> int:
    text = json.dumps(body)
    return len(text) - len(text.rstrip("}"))


def spoil_body(request: Request, base: Base, odd: Odd, dice: Random) -> Request:
    """Send a body of another kind, size, type or in pieces."""
    body = request.body or b"{}"
    bodies: tuple[bytes | None, ...] = (
        *(
            None,
            b"",
            b" \n\t",
            b"\xef\xbb\xbf" + body,
            body.decode().encode("utf-16"),
            body[:-1],
            body + b"}",
            body * 2,
        ),
        *(b"\xff" + body, b"[" + body + b"]", gzip.compress(body), b"a=b&c=d", b"--x\r\n\r\n", b"\x00" * 99),
        *(body[:-1] + b" " * (size - len(body)) + body[-1:] for size in (MAX_BODY_BYTES, MAX_BODY_BYTES + 1, 10**6)),
        odd.raw,
    )
    chosen = dice.choice(bodies)
    others = tuple(pair for pair in request.head if pair[0] != "Content-Type")
    kind = dice.random()
    head = _typed(others) if kind < 0.5 else (*others, ("Content-Type", dice.choice(TYPES).encode()))
    if dice.random() < 0.4:
        step = dice.choice((1, 7, 4_096, 65_536))
        sent = (chosen or b"")[: 2_000 if step < 9 else None]
        return replace(
            request, body=None, head=head, chunks=tuple(sent[i : i + step] for i in range(0, len(sent), step))
        )
    return replace(request, body=chosen, head=head)


def spoil_headers(request: Request, base: Base, odd: Odd, dice: Random) -> Request:
    """Send odd headers, or one twice."""
    twice = dice.choice(request.head) if request.head and dice.random() < 0.2 else None
    head = [*request.head, *odd.headers, *([twice] if twice else [])]
    dice.shuffle(head)
    return replace(request, head=tuple(head))


def spoil_query(request: Request, base: Base, odd: Odd, dice: Random) -> Request:
    """Ask with a query that means little."""
    parts = [dice.choice(IN_QUERIES) for _ in range(dice.choice((1, 1, 2)))]
    if dice.random() < 0.3:
        parts.append(urlencode({dice.choice(("search", "cursor", "odd", "limit")): odd.text}, errors="surrogatepass"))
    return replace(request, target=f"{request.target}?{'&'.join(parts)}")


def spoil_path(request: Request, base: Base, odd: Odd, dice: Random) -> Request:
    """Ask at an address that is none, or almost none."""
    parts = request.target.split("/")
    part = dice.choice(IN_PATHS) if dice.random() < 0.8 else quote(odd.text, safe="", errors="surrogatepass")
    place = dice.randrange(1, len(parts) + 1)
    parts[place : place + dice.randrange(2)] = [part]
    target = "/".join(parts) + dice.choice(("", "", "", "/", "//", "?", "%3f"))
    return replace(request, target=target, template="")


def spoil_method(request: Request, base: Base, odd: Odd, dice: Random) -> Request:
    """Use another method."""
    method = dice.choice([each for each in METHODS if each != base.method])
    return replace(request, method=method, template="")


SPOILERS = (spoil_value, spoil_value, spoil_value, spoil_body, spoil_headers, spoil_query, spoil_path, spoil_method)


def _typed(head: tuple[tuple[str, bytes], ...]) -> tuple[tuple[str, bytes], ...]:
    return head if JSON_TYPE in head else (*head, JSON_TYPE)
