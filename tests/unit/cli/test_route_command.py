"""``route``: the numbers of the engine reach the user unchanged, in three formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from routing_engine import Router, RouteRequest, Snapshot
from tests.unit.cli.conftest import RESERVES, USDC, WETH

Run = Callable[..., Result]
WETH_KEY, USDC_KEY = f"{WETH['address']}@1", f"{USDC['address']}@1"


def _sold(amount: int) -> int:
    """Constant product with a fee of 30 bps, by the contract's own formula."""
    kept = amount * 997
    return kept * RESERVES[1] // (RESERVES[0] * 1000 + kept)


@pytest.fixture
def route(run: Run, market_file: Path) -> Callable[..., Result]:
    def on_the_file(*arguments: object) -> Result:
        return run("route", "--market", market_file, *arguments)

    return on_the_file


def _json(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.stderr
    return dict(json.loads(result.stdout))


def test_the_json_document_is_exact(route: Run) -> None:
    found = _json(route("--from", "WETH", "--to", "USDC", "--amount", "0.5", "--max-hops", 1, "--format", "json"))
    amount = 5 * 10**17
    assert (found["amount_in"], found["amount_out"]) == (str(amount), str(_sold(amount)))
    assert found["amount_out_net"] == found["amount_out"]
    assert (found["token_in"], found["token_out"]) == (WETH_KEY, USDC_KEY)
    (step,) = found["steps"]
    assert (step["market"], step["protocol"]) == ("1:pair", "uniswap_v2")
    assert (step["amount_in"], step["amount_out"]) == (str(amount), str(_sold(amount)))
    assert step["fees"] == [
        {"amount": "1500000000000000", "token": WETH_KEY, "symbol": "WETH", "name": "lp_fee", "included": True}
    ]
    assert found["gas"] == step["gas"] > 0
    assert isinstance(found["fill_time_s"], int)
    assert found["elapsed_ms"] > 0
    assert found["load_ms"] > 0


def test_large_amounts_get_what_the_library_gives_by_default(run: Run) -> None:
    snapshot = Snapshot.sandbox()
    ends = {"token_in": snapshot.token("WETH@1"), "token_out": snapshot.token("USDC@8453")}
    result = Router(snapshot).find_routes(RouteRequest(**ends, amount=400 * 10**18))
    found = _json(run("route", "--from", "WETH@1", "--to", "USDC@8453", "--amount", 400, "--format", "json"))
    assert len(result.best().paths) > 40
    assert found["amount_out_net"] == str(result.best().amount_out_net)
    assert result.certificate is not None
    assert found["certificate"] == {
        "gap_bps": result.certificate.gap_bps,
        "scope": result.certificate.scope,
        "gas_aware": True,
        "reason": "",
        "all_flows_gap_bps": result.certificate.all_flows_gap_bps,
    }


def test_json_is_what_the_library_answers(run: Run) -> None:
    snapshot = Snapshot.sandbox()
    request = RouteRequest(
        token_in=snapshot.token("WETH@1"),
        token_out=snapshot.token("USDC@8453"),
        amount=3 * 10**18,
        order="fastest",
        alternatives=2,
        gas_prices={1: 20 * 10**9},
    )
    result = Router(snapshot).find_routes(request)
    arguments = ["--from", "WETH@1", "--to", "USDC@8453", "--amount", "3", "--gas-price-gwei", "1=20"]
    options = ["--order", "fastest", "--alternatives", 2, "--format", "json"]
    found = _json(run("route", *arguments, *options))
    assert found["snapshot_id"] == snapshot.id
    for shown, meant in zip([found, *found["alternatives"]], result.routes, strict=True):
        assert shown["amount_out"] == str(meant.amount_out)
        assert shown["amount_out_net"] == str(meant.amount_out_net)
        assert shown["gas_cost_out"] == str(meant.gas_cost_out)
        assert (shown["gas"], shown["fill_time_s"]) == (meant.gas, meant.fill_time_s)
        assert [step["market"] for step in shown["steps"]] == [hop.market_id for hop in meant.hops]
        assert [step["fill_time_s"] for step in shown["steps"]] == [hop.fill_time_s for hop in meant.hops]


def test_the_pareto_set_is_shown_as_alternatives(run: Run) -> None:
    snapshot = Snapshot.sandbox()
    weth, usdc = snapshot.token("WETH@1"), snapshot.token("USDC@8453")
    result = Router(snapshot).find_pareto_set(RouteRequest(token_in=weth, token_out=usdc, amount=3 * 10**18))
    assert len(result.routes) > 1
    arguments = ["--from", "WETH@1", "--to", "USDC@8453", "--amount", "3", "--pareto", "--format", "json"]
    found = _json(run("route", *arguments))
    shown = [found, *found["alternatives"]]
    assert [each["fill_time_s"] for each in shown] == [each.fill_time_s for each in result.routes]
    assert [each["amount_out_net"] for each in shown] == [str(each.amount_out_net) for each in result.routes]


def test_waiting_has_a_price_and_impact_a_limit(run: Run, route: Run) -> None:
    cheap = ["--from", "WETH@1", "--to", "USDC@8453", "--amount", "3", "--format", "json"]
    patient, hasty = (_json(run("route", *cheap, "--value-of-time", worth)) for worth in (0, 10_000))
    assert patient["fill_time_s"] > hasty["fill_time_s"]
    assert int(patient["amount_out_net"]) > int(hasty["amount_out_net"])
    large = ("--from", "WETH", "--to", "USDC", "--amount", "100", "--format", "json")
    assert _json(route(*large, "--time-budget-ms", 60_000))["price_impact_bps"] > 100
    refused = route(*large, "--max-price-impact-bps", 100)
    assert refused.exit_code == 1
    assert json.loads(refused.stderr)["error"]["code"] == "price_impact_too_high"


def test_exact_out_fixes_the_amount_received(route: Run) -> None:
    arguments = ("--from", "WETH@1", "--to", "USDC@1", "--exact-out", "--max-hops", 1, "--format", "json")
    found = _json(route(*arguments, "--amount", "1000"))
    assert found["side"] == "exact_out"
    paid = int(found["amount_in"])
    assert _sold(paid) == int(found["amount_out"]) >= 10**9
    assert _sold(paid - 1) < 10**9


def test_units_and_addresses_say_the_same_as_whole_tokens_and_symbols(route: Run) -> None:
    whole = _json(route("--from", "WETH", "--to", "USDC", "--amount", "1", "--format", "json"))
    units = ("--from", WETH_KEY.upper().replace("X", "x"), "--to", USDC_KEY, "--amount", 10**18, "--units")
    assert _json(route(*units, "--format", "json"))["steps"] == whole["steps"]


def test_gas_is_deducted_where_its_price_is_given(route: Run) -> None:
    arguments = ("--from", "WETH", "--to", "USDC", "--amount", "1", "--format", "json")
    free, priced = route(*arguments), route(*arguments, "--gas-price-gwei", "10")
    assert "no gas price is known for chain 1" in free.stderr
    assert priced.stderr == ""
    found = _json(priced)
    assert int(found["amount_out_net"]) == int(found["amount_out"]) - int(found["gas_cost_out"])
    assert int(found["gas_cost_out"]) == pytest.approx(found["gas"] * 10e9 * 2e-9, rel=0.02)


def test_gas_that_cannot_be_valued_is_noted(route: Run) -> None:
    result = route("--from", "LONE", "--to", "ISLE", "--amount", "1", "--gas-price-gwei", "10")
    assert result.exit_code == 0
    assert "no markets here lead from the coin that pays gas to LONE@1 and ISLE@1" in result.stderr
    assert "units, worth unknown" in result.stdout


def test_csv_has_a_row_for_each_step(route: Run) -> None:
    result = route(
        "--from", "WETH", "--to", "USDC", "--amount", "1", "--alternatives", 1, "--max-splits", 1, "--format", "csv"
    )
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["route"], row["step"]) for row in rows] == [("0", "0"), ("1", "0"), ("1", "1")]
    assert rows[0]["amount_out"] == str(_sold(10**18))
    assert rows[0]["fees"] == f"3000000000000000 {WETH_KEY} lp_fee"
    assert rows[1]["amount_out"] == rows[2]["amount_in"]
    assert rows[2]["market"] == "1:clmm"


def test_the_table_shows_hops_and_a_summary_in_eighty_plain_columns(run: Run) -> None:
    arguments = ("--from", "USDC@1", "--to", "WBTC@42161", "--amount", "0.5", "--exact-out", "--alternatives", 2)
    out = run("route", *arguments).stdout
    for word in ("USDC@1 → WBTC@42161", "you pay", "0.5 WBTC on Arbitrum", "price impact", "gas", "time", "lp fee"):
        assert word in out
    assert "Alternatives" in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 80


def test_what_is_proven_is_explained_when_asked_for(run: Run) -> None:
    arguments = ("--from", "USDC@1", "--to", "WETH@1", "--amount", "1000")
    plain, explained = (run("route", *arguments, *more).stdout for more in ((), ("--explain",)))
    assert "No other route is better by" not in plain
    assert "No other route is better by" in explained
    assert max(map(len, explained.splitlines())) <= 80


def test_no_name_from_a_file_steers_the_terminal(route: Run) -> None:
    out = route("--from", "0x" + "f" * 40, "--to", "USDC", "--amount", "1").stdout
    assert "\x1b" not in out
    assert "[red]" in out
    failed = route("--from", "0x" + "f" * 40, "--to", "LONE", "--amount", "1")
    assert failed.exit_code == 1
    assert "\x1b" not in failed.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "protocols"),
    [
        (["--from", "WETH", "--to", "LONE", "--amount", "1"], "no_route", {"uniswap_v2", "uniswap_v3"}),
        (
            ["--from", "WETH", "--to", "USDC", "--amount", "9999999", "--exact-out"],
            "insufficient_liquidity",
            {"uniswap_v2", "uniswap_v3"},
        ),
        (["--from", "WETH", "--to", "USDC", "--amount", "1", "--deny", "uniswap_v2"], "no_route", {"uniswap_v2"}),
        (["--from", "WETH", "--to", "USDC", "--amount", "1", "--allow", "uniswap_v3"], "no_route", {"uniswap_v3"}),
    ],
)
def test_nothing_found_is_exit_code_one_with_reasons(
    route: Run, arguments: list[str], code: str, protocols: set[str]
) -> None:
    as_json, as_text = route(*arguments, "--format", "json"), route(*arguments)
    assert as_json.exit_code == as_text.exit_code == 1
    assert as_json.stdout == as_text.stdout == ""
    error = json.loads(as_json.stderr)["error"]
    assert error["code"] == code
    assert {entry["protocol"] for entry in error["unavailable"]} >= protocols
    for entry in error["unavailable"]:
        assert entry["protocol"] in as_text.stderr
        assert entry["reason"] in as_text.stderr


@pytest.mark.parametrize(
    ("arguments", "field", "message"),
    [
        (["--from", "WETHH"], "--from", "did you mean WETH@1"),
        (["--to", "USDC@7"], "--to", "is not in this market"),
        (["--to", "USDC@x"], "--to", "chain id"),
        (["--to", "U" * 5000], "--to", "too long"),
        (["--to", "WETH"], "--to", "same token"),
        (["--amount", "1e3"], "--amount", "is not an amount"),
        (["--amount", "0"], "--amount", "must be from 1"),
        (["--amount", "0.1234567890123456789"], "--amount", "WETH@1 has only 18"),
        (["--amount", "1.5", "--units"], "--amount", "digits only"),
        (["--amount", "9" * 100], "--amount", "must be from 1"),
        (["--gas-price-gwei", "fast"], "--gas-price-gwei", "is not an amount"),
        (["--gas-price-gwei", "10=1"], "--gas-price-gwei", "no chain id of this market"),
        (["--max-hops", "7"], "--max-hops", "from 1 to 6"),
        (["--alternatives", "6"], "--alternatives", "from 0 to 5"),
        (["--value-of-time", "-1"], "--value-of-time", "from 0 to 10,000"),
        (["--value-of-time", "1", "--order", "fastest"], "--value-of-time", "time comes first"),
        (["--max-price-impact-bps", "nan"], "--max-price-impact-bps", "from 0 to 10,000"),
        (["--time-budget-ms", "0"], "--time-budget-ms", "from 1 to"),
        (["--allow", "uniswap_v9"], "--allow", "did you mean uniswap_v"),
        (["--deny", "x"], "--deny", "here are uniswap_v2, uniswap_v3"),
        (["--deny-chains", "1"], "--deny-chains", "leaves out chain 1, where token_in (WETH@1) is"),
        (["--allow-chains", "1", "--allow-chains", "10"], "--allow-chains", "chain 10 is not in this snapshot"),
    ],
)
def test_bad_input_is_exit_code_two_and_names_the_option(
    route: Run, arguments: list[str], field: str, message: str
) -> None:
    good = ["--from", "WETH", "--to", "USDC", "--amount", "1"]
    result = route(*good, *arguments, "--format", "json")
    assert result.exit_code == 2
    assert result.stdout == ""
    error = json.loads(result.stderr)["error"]
    assert error["field"] == field
    assert message in error["message"]
    assert f"Error: {field}: " in route(*good, *arguments).stderr


def test_a_symbol_on_many_chains_is_ambiguous(run: Run) -> None:
    result = run("route", "--from", "WETH", "--to", "USDC@1", "--amount", "1", "--format", "json")
    assert result.exit_code == 2
    assert json.loads(result.stderr)["error"]["code"] == "ambiguous_token"


def test_a_route_that_takes_a_week_is_said_to_with_what_is_faster(run: Run) -> None:
    arguments = ("route", "--from", "ETH@10", "--to", "ETH@1", "--amount", 50)
    slow = run(*arguments)
    assert slow.exit_code == 0
    assert "note: this route takes 7 days; --order fastest or balanced" in slow.stderr
    assert "7 days, 1 transaction" in slow.stdout
    fast = run(*arguments, "--order", "fastest")
    assert fast.exit_code == 0
    assert "note:" not in fast.stderr


def test_who_asks_for_more_than_markets_hold_is_told(run: Run) -> None:
    result = run("route", "--from", "WETH@1", "--to", "USDC@1", "--amount", 10**9)
    assert result.exit_code == 0
    assert "% is lost to the amount's own size: these markets hold too little for it; trade less" in result.stderr


def test_many_steps_are_folded_unless_all_are_asked_for(run: Run) -> None:
    arguments = ("route", "--from", "WETH@1", "--to", "USDC@8453", "--amount", 400)
    short, every = run(*arguments), run(*arguments, "--all")
    assert short.exit_code == every.exit_code == 0
    assert "smaller steps of" in short.stdout
    assert short.stdout.index("you receive") < short.stdout.index("Market")
    assert "smaller steps of" not in every.stdout
    assert len(every.stdout.splitlines()) > 100 > len(short.stdout.splitlines())
