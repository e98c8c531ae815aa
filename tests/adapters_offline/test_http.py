"""The JSON client against services that misbehave."""

from __future__ import annotations

import gzip
import random
import socket
import threading

import pytest

from adapters.base import BadPayload, Declined, TooLarge, VenueUnavailable
from adapters.http import responses
from adapters.http.circuit_breaker import Breaker, BreakerOpen, Breakers
from adapters.http.client import HttpLimits, JsonClient, Traffic
from tests.support.receiver import receiver
from tests.support.venues import Answer, drip, flood, hang, reply, venue

QUICK = HttpLimits(read_s=5, total_s=0.4, tries=1)
ROOMY = HttpLimits(read_s=60, total_s=60, max_bytes=2**20, tries=1)


class Time:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def client(time: Time, **limits: float) -> JsonClient:
    breakers = Breakers(lambda host: Breaker(host, clock=time))
    return JsonClient(
        limits=HttpLimits(**limits), breakers=breakers, clock=time, sleep=time.sleep, rng=random.Random(5)
    )


@pytest.fixture
def time() -> Time:
    return Time()


def test_what_is_asked_and_answered() -> None:
    with venue(reply({"fee": "12"}), reply([1, 2])) as there:
        ask = JsonClient(headers={"X-Api-Key": "k"})
        assert ask.get(f"{there.url}/fees", {"amount": 10**20, "token": "a b"}) == {"fee": "12"}
        assert ask.post(f"{there.url}/rpc", {"id": 1}) == [1, 2]
        ask.close()
    first, second = (request.decode() for request in there.asked)
    assert first.startswith("GET /fees?amount=100000000000000000000&token=a+b HTTP/1.1\r\n")
    assert "X-Api-Key: k\r\n" in first
    assert second.startswith("POST /rpc HTTP/1.1\r\n")
    assert second.endswith('\r\n\r\n{"id": 1}')
    assert there.connections == 1, "the connection is used again"
    assert ask.traffic == Traffic(requests=2, bytes_sent=9, bytes_received=19)


def test_big_integers_stay_exact() -> None:
    with venue(
        reply('{"wei": 115792089237316195423570985008687907853269984665640564039457584007913129639935}')
    ) as there:
        assert JsonClient().get(there.url) == {"wei": 2**256 - 1}


@pytest.mark.parametrize(
    "answer",
    [
        hang,
        drip(b"HTTP/1.1 200 OK\r\nX: "),
        drip(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b" "),
        drip(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b" "),
    ],
    ids=["says nothing", "drips headers", "drips a body", "drips a body of a known length"],
)
def test_no_answer_is_waited_for_beyond_the_time_limit(answer: Answer) -> None:
    with venue(answer) as there, pytest.raises(VenueUnavailable, match="no complete answer within"):
        JsonClient(limits=QUICK).get(there.url)


def test_the_wait_for_the_next_bytes_has_a_limit_of_its_own() -> None:
    with venue(hang) as there, pytest.raises(VenueUnavailable, match="no answer in time"):
        JsonClient(limits=HttpLimits(read_s=0.2, total_s=60, tries=1)).get(there.url)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "the connection failed"),
        (b"\x00\xff garbage\r\n\r\n", "the connection failed"),
        (b"", "the connection failed"),
        (reply("", "503 Busy"), "status 503"),
        (reply(b"not gzip", Content_Encoding="gzip"), "compression is damaged"),
    ],
    ids=["breaks off", "garbage", "hangs up", "503", "not gzip"],
)
def test_a_broken_answer_is_unavailability(answer: bytes, said: str) -> None:
    with venue(lambda connection: connection.sendall(answer)) as there, pytest.raises(VenueUnavailable, match=said):
        JsonClient(limits=ROOMY).get(there.url)


def test_errors_never_show_the_path_which_may_hold_a_key() -> None:
    with venue(hang) as there, pytest.raises(VenueUnavailable) as error:
        JsonClient(limits=QUICK).get(f"{there.url}/v2/SECRET-KEY")
    assert "SECRET" not in str(error.value)
    assert there.url.removeprefix("http://") in str(error.value)


def test_a_closed_port_is_unavailability() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(VenueUnavailable, match="the connection failed"):
        JsonClient(limits=ROOMY).get(f"http://127.0.0.1:{port}/")


@pytest.mark.parametrize(
    "body",
    ["", "<html>", '{"a": 1', "NaN", '{"x": Infinity}', "[" * 100_000, "1" * 5000, b"\xff\xfe\x00"],
    ids=["empty", "html", "truncated", "NaN", "Infinity", "deep", "5000 digits", "no text"],
)
def test_what_is_not_json_is_a_bad_payload(body: str | bytes) -> None:
    with venue(reply(body)) as there, pytest.raises(BadPayload, match=r"is (not JSON|nested deeper)"):
        JsonClient().get(there.url)


@pytest.mark.parametrize("part", [b"[],", b"{},", b'{"a":[]},', b'"ab",'])
def test_a_small_body_that_would_take_much_memory_is_not_parsed(part: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found: eight megabytes of brackets took 240."""
    monkeypatch.setattr(responses, "parse", lambda _: pytest.fail("it was parsed"))
    body = b"[" + part * (ROOMY.max_bytes // len(part) - 1) + b"0]"
    with venue(reply(body)) as there, pytest.raises(TooLarge, match="would take more than 14680064 bytes of memory"):
        JsonClient(limits=ROOMY).get(there.url)


def test_a_body_of_200_mb_is_cut_off() -> None:
    sent = threading.Event()

    def whole_flood(connection: socket.socket) -> None:
        flood(200)(connection)
        sent.set()

    with venue(whole_flood) as there:
        ask = JsonClient(limits=ROOMY)
        with pytest.raises(BadPayload, match="longer than 1048576 bytes"):
            ask.get(there.url)
    assert not sent.is_set(), "the rest was never read"


def go_on(*parts: bytes) -> Answer:
    """Send the first parts once and the last one without end."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(b"".join(parts[:-1]))
        while True:
            connection.sendall(parts[-1] * max(1, 65_536 // len(parts[-1])))

    return answer


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "parts",
    [
        (b"HTTP/1.1 100 Continue\r\n\r\n",),
        (CHUNKED, b"1;" + b"x" * 60_000 + b"\r\n \r\n"),
        (CHUNKED, b"2\r\n{}\r\n0\r\n", b"X: y\r\n"),
    ],
    ids=["interim", "extensions", "trailers"],
)
def test_an_answer_whose_frame_goes_on_is_left_long_before_its_time_is_up(parts: tuple[bytes, ...]) -> None:
    """Found: each kept a processor busy for all the time that a question has, half a minute of a chain's."""
    with venue(go_on(*parts)) as there, pytest.raises(VenueUnavailable, match="the connection failed"):
        JsonClient(limits=ROOMY).get(there.url)


def test_an_answer_after_a_few_interim_ones_and_in_small_chunks_is_read() -> None:
    body = b"[" + b" " * 600_000 + b"]"
    chunks = b"".join(b"400\r\n%b\r\n" % body[begin : begin + 1024].ljust(1024) for begin in range(0, len(body), 1024))
    whole = b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + CHUNKED + chunks + b"0\r\n\r\n"
    with venue(lambda connection: connection.sendall(whole)) as there:
        assert JsonClient(limits=ROOMY).get(there.url) == []


def test_an_announced_length_beyond_the_bound_is_not_read_at_all() -> None:
    def announce(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 209715200\r\n\r\n")
        connection.recv(1)

    with venue(announce) as there, pytest.raises(BadPayload, match="longer than"):
        JsonClient(limits=ROOMY).get(there.url)


def test_a_small_body_that_unpacks_to_much_is_cut_off() -> None:
    bomb = gzip.compress(b" " * (30 * 2**20), 6)
    assert len(bomb) < 2**15
    with venue(reply(bomb, Content_Encoding="gzip")) as there, pytest.raises(BadPayload, match="longer than 1048576"):
        JsonClient(limits=ROOMY).get(there.url)


def test_a_passing_failure_is_tried_again_after_a_random_pause(time: Time) -> None:
    with venue(reply("", "500 Oops"), reply("", "502 Oops"), reply(1)) as there:
        assert client(time).get(there.url) == 1
    first, second = time.slept
    assert 0 < first < 0.25
    assert 0 < second < 0.5
    assert len(there.asked) == 3


def test_tries_are_counted(time: Time) -> None:
    with venue(reply("", "500 Oops")) as there, pytest.raises(VenueUnavailable, match="status 500"):
        client(time, tries=2).get(there.url)
    assert len(there.asked) == 2


def test_retry_after_is_honoured(time: Time) -> None:
    with venue(reply("", "429 Slow down", Retry_After="7"), reply("ok".join('""'))) as there:
        assert client(time).get(there.url) == "ok"
    (slept,) = time.slept
    assert 7 <= slept <= 7.25


def test_a_retry_after_beyond_our_time_is_not_waited_for_but_kept(time: Time) -> None:
    ask = client(time, total_s=20)
    with venue(reply("", "429 Slow down", Retry_After="60"), reply(1)) as there:
        with pytest.raises(VenueUnavailable) as error:
            ask.get(there.url)
        assert error.value.retry_after_s == 60
        assert time.slept == []
        with pytest.raises(BreakerOpen):
            ask.get(there.url)
        assert len(there.asked) == 1
        time.now += 60
        assert ask.get(there.url) == 1


@pytest.mark.parametrize("value", ["Wed, 21 Oct 2026 07:28:00 GMT", "-5", "٣", "1e9", "9" * 40])
def test_a_strange_retry_after_is_none(time: Time, value: str) -> None:
    answer = reply("", "429 Slow down", Retry_After="").replace(b"Retry-After: ", b"Retry-After: " + value.encode())
    with venue(answer, reply(1)) as there:
        assert client(time).get(there.url) == 1
    assert time.slept[0] < 0.25


def test_a_refusal_is_not_tried_again_and_keeps_what_was_said(time: Time) -> None:
    with venue(reply({"message": "amount too low"}, "400 Bad Request")) as there, pytest.raises(Declined) as error:
        client(time).get(there.url)
    assert (error.value.status, error.value.body) == (400, {"message": "amount too low"})
    assert len(there.asked) == 1


def test_a_redirect_is_a_refusal() -> None:
    with venue(reply(1)) as elsewhere:
        with venue(reply("", "302 Found", Location=elsewhere.url)) as there, pytest.raises(Declined, match="302"):
            JsonClient().get(there.url)
        assert elsewhere.asked == []


def test_cookies_are_not_kept_and_the_environment_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with venue(reply(1)) as proxy, venue(reply(1, Set_Cookie="a=b")) as there:
        monkeypatch.setenv("http_proxy", proxy.url)
        ask = JsonClient()
        ask.get(there.url)
        ask.get(there.url)
        assert proxy.asked == []
    assert b"Cookie" not in there.asked[1]


def test_a_host_that_keeps_failing_is_left_alone(time: Time) -> None:
    ask = client(time, tries=1)
    with venue(reply("", "500 Oops")) as there, venue(reply(1)) as other:
        for _ in range(5):
            with pytest.raises(VenueUnavailable, match="status 500"):
                ask.get(there.url)
        with pytest.raises(BreakerOpen):
            ask.get(there.url)
        assert len(there.asked) == 5
        assert ask.get(other.url) == 1


def test_a_kept_connection_that_hangs_is_cut_too() -> None:
    with venue(reply(1), drip(b"HTTP/1.1 200 OK\r\nX: ")) as there:
        ask = JsonClient(limits=HttpLimits(read_s=60, total_s=2, tries=1))
        assert ask.get(there.url) == 1
        with pytest.raises(VenueUnavailable, match="no complete answer within"):
            ask.get(there.url)
    assert there.connections == 1


def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    with receiver(tls=True) as (port, _), pytest.raises(VenueUnavailable, match="the TLS handshake failed"):
        JsonClient(limits=ROOMY).get(f"https://127.0.0.1:{port}/")


def test_a_handshake_that_hangs_is_cut() -> None:
    with venue(hang) as there, pytest.raises(VenueUnavailable, match="no complete answer within"):
        JsonClient(limits=QUICK).get(there.url.replace("http", "https"))
