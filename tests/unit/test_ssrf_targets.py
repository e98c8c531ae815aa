"""Where a stranger's URL may lead."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.config import Config
from api.domain.env import EnvMode
from api.net.addresses import Reach, is_public
from api.net.targets import TargetRefused, parse_target

PUBLIC, LOCAL = Reach(), Reach(local=True)


@pytest.mark.rule("input.13")
@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "203.0.113.5",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ],
)
def test_an_address_that_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"],
)
def test_a_public_address(address: str) -> None:
    assert is_public(ip_address(address))
    assert PUBLIC.allows(ip_address(address))


@given(st.ip_addresses())
def test_nothing_that_the_standard_library_knows_as_private_is_public(address: object) -> None:
    if is_public(address):
        assert address.is_global
        assert not address.is_multicast


@pytest.mark.rule("input.15")
def test_the_operator_can_allow_local_targets_for_test_events_only(tmp_path: Path) -> None:
    closed = Config(data_dir=tmp_path, database_url="sqlite://")
    opened = Config(data_dir=tmp_path, database_url="sqlite://", allow_local_webhooks=True)
    assert Reach.of(opened, EnvMode.TEST) == LOCAL
    assert {Reach.of(closed, EnvMode.TEST), Reach.of(closed, EnvMode.LIVE), Reach.of(opened, EnvMode.LIVE)} == {PUBLIC}


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "192.168.0.9", "172.20.0.1", "::1", "fd00::1", "8.8.8.8"])
def test_local_targets(address: str) -> None:
    assert LOCAL.allows(ip_address(address))


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "fd00:ec2::254", "0.0.0.0", "224.0.0.1", "::ffff:127.0.0.1", "fe80::1"]
)
def test_no_setting_allows_metadata_services_or_disguises(address: str) -> None:
    assert not LOCAL.allows(ip_address(address))


@pytest.mark.rule("input.11")
@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://0177.0.0.01/",
        "http://127.1/",
        "http://127.0.1/",
        "http://0/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://127.0.0.1/",
        "http://127.0.0.1./",
        "http://１２７.０.０.１/",
        "http://127。0。0。1/",
        "http://⑫7.0.0.1/",
        "http://a.0x1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[2606:4700::1111%lo]/",
        "http://[::1",
        "http://[v1.x]/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://api.localhost/",
        "http://localhost.localdomain/",
        "http://ｌｏｃａｌｈｏｓｔ/",
        "http://shop.example../",
        "http://.shop.example/",
        "http://a..b/",
        "http://-a.example/",
        "http://a b.example/",
        "http://a%2eb/",
        "http://" + "a" * 64 + ".example/",
        "http://" + "a." * 130 + "example/",
        "http:///x",
        "http://",
        "ftp://shop.example/",
        "file:///etc/passwd",
        "gopher://shop.example/",
        "//shop.example/",
        "http://user@shop.example/",
        "http://user:pw@shop.example/",
        "http://shop.example:22/",
        "http://shop.example:6379/",
        "https://shop.example:0/",
        "https://shop.example:99999/",
        "https://shop.example:x/",
    ],
)
def test_a_url_that_leads_astray(url: str) -> None:
    with pytest.raises(TargetRefused):
        parse_target(url, PUBLIC)


@pytest.mark.parametrize(
    ("url", "requested"),
    [
        ("https://shop.example", "https://shop.example/"),
        ("https://Shop.Example./a?b=c#d", "https://shop.example/a?b=c"),
        ("https://shop.example:443/", "https://shop.example/"),
        ("https://shop.example:8443/x", "https://shop.example:8443/x"),
        ("http://93.184.216.34:8080/ü?q=ä&r=%20", "http://93.184.216.34:8080/%C3%BC?q=%C3%A4&r=%20"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://BÜCHER。example/", "https://xn--bcher-kva.example/"),
        ("https://[2606:4700:0:0::1111]/", "https://[2606:4700::1111]/"),
        ("https://my_shop.example/", "https://my_shop.example/"),
    ],
)
def test_a_url_is_requested_in_one_spelling(url: str, requested: str) -> None:
    assert parse_target(url, PUBLIC).url == requested


def test_any_port_where_local_targets_are_allowed() -> None:
    assert parse_target("http://localhost:3000/hook", LOCAL).port == 3000


@given(st.text(max_size=60))
def test_any_text_is_a_target_or_refused(text: str) -> None:
    for url in (text, f"http://{text}", f"https://shop.example/{text}"):
        try:
            target = parse_target(url, PUBLIC)
        except TargetRefused:
            continue
        assert target.url.isascii()
        assert parse_target(target.url, PUBLIC) == target
