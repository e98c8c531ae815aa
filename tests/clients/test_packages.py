"""Both packages build, install by themselves, and do what their READMEs say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.clients.generation.python import PACKAGE
from tests.clients.generation.typescript import TOOLS, compile_project, run_node
from tests.clients.test_python_webhooks import BODY, NOW, OTHER, SECRET, sign
from tests.support.archives import unpack
from tests.support.npm_tools import install_tools, name_environment
from tests.support.running import RunningService

pytestmark = [pytest.mark.xdist_group("clients"), pytest.mark.timeout(240)]
ROOT = Path(__file__).parents[2]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "-qq"]
CONSUMER = """{
  "compilerOptions": {
    "strict": true, "exactOptionalPropertyTypes": true, "noUncheckedIndexedAccess": true, "target": "ES2022",
    "module": "NodeNext", "lib": ["ES2022", "DOM"], "types": [], "skipLibCheck": false
  },
  "files": ["sell.ts", "rehearse.ts", "receive.ts", "types.ts"]
}
"""
TYPES = """
import type { NewPaymentLink, PaymentOrder } from "crosschain-checkout-client";
export const due = (order: PaymentOrder): bigint => order.amount_due ?? order.order_price.amount;
// @ts-expect-error  an amount is no text
export const price: NewPaymentLink["order_price"]["amount"] = "1";
// @ts-expect-error  no such status
export const status: PaymentOrder["payment_order_status"] = "paid";
"""
RUN = """
import { receive } from "./receive.js";
import { rehearse } from "./rehearse.js";
import { CheckoutClient } from "crosschain-checkout-client";
import { sell } from "./sell.js";
const paid = await sell(process.env.URL, process.env.KEY);
console.log(paid);
const checkout = new CheckoutClient({ baseUrl: process.env.URL, apiKey: process.env.KEY });
const [{ amount, transaction }] = JSON.parse(await rehearse(checkout, paid.split("/").at(-1), process.env.OTHER));
console.log(amount, transaction.chain_id);
const forged = new Request("http://shop.example", { method: "POST", body: "{}" });
console.log((await receive(forged, [process.env.SECRET, process.env.SECRET])).status);
"""


REHEARSE = """
import os
with CheckoutClient(os.environ["CHECKOUT_URL"], os.environ["CHECKOUT_API_KEY"]) as checkout:
    rehearse(checkout, *sys.argv[1:])
"""


def make_order(service: RunningService) -> str:
    """Make an order that nobody pays."""
    words = ("--amount", "1", "--currency", "USDC", "--item", "Tea", "1", "--success-url", "http://localhost:3000/paid")
    return str(json.loads(service.run("links", "create", *words, "--json").stdout)["payment_order_id"])


def check_rehearsed(service: RunningService, paid: str, other: str) -> None:
    """Hold two orders to what the examples do: one was paid and partly refunded, the other cancelled."""
    first, second = (json.loads(service.run("orders", "show", each, "--json").stdout) for each in (paid, other))
    assert [each["amount"] for each in first["refunds"]] == ["10000000"]
    assert second["payment_order_status"] == "cancelled"


def read_examples(package: str, language: str) -> list[str]:
    text = (ROOT / "clients" / package / "README.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the Python client's wheel was installed by itself."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    subprocess.run(["cp", "-r", ROOT / "clients" / "python", source], check=True)
    options = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*PIP, "wheel", *options, "-w", folder, source], check=True, cwd=folder)
    (wheel,) = folder.glob("crosschain_checkout_client-*-py3-none-any.whl")
    subprocess.run([*PIP, "install", "--no-deps", "--no-index", "--target", folder / "site", wheel], check=True)
    return folder / "site"


def test_the_wheel_has_the_typed_package_alone(site: Path) -> None:
    shown = {
        str(path.relative_to(site)) for path in site.rglob("*") if path.is_file() and path.suffix in (".py", ".typed")
    }
    assert shown == {f"{PACKAGE.name}/{path.name}" for path in PACKAGE.iterdir() if path.is_file()}
    (metadata,) = site.glob("*.dist-info/METADATA")
    needed = re.findall(r"^Requires-Dist: (\w+)", metadata.read_text(), re.MULTILINE)
    assert needed == ["anyio", "httpx"]


def test_the_python_examples_run(site: Path, service: RunningService) -> None:
    sell, rehearse, receive = read_examples("python", "python")
    assert len(sell.strip().splitlines()) <= 18
    environment = {**os.environ, "PYTHONPATH": str(site), "CHECKOUT_URL": service.url, "CHECKOUT_API_KEY": service.key}
    done = subprocess.run(
        [sys.executable, "-c", sell], env=environment, cwd=site, capture_output=True, text=True, check=True
    )
    url, due = done.stdout.split()
    assert url.startswith(f"{service.url}/payment/po_")
    assert due == "25000000"
    orders = [url.rpartition("/")[2], make_order(service)]
    checked = f"import sys, time\nfrom crosschain_checkout_client import CheckoutClient\n{rehearse}\n{REHEARSE}"
    done = subprocess.run(
        [sys.executable, "-c", checked, *orders], env=environment, cwd=site, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "chain_id=8453" in done.stdout
    check_rehearsed(service, *orders)
    names: dict[str, Any] = {"os": os}
    exec(compile(receive, "README.md", "exec"), names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBHOOK_SECRET", SECRET)
        patch.setattr("crosschain_checkout_client.webhooks.time.time", NOW.timestamp)
        assert names["receive"](BODY.encode(), sign()) == 200
        patch.setenv("WEBHOOK_SECRET", f"{OTHER} {SECRET}")
        assert names["receive"](BODY.encode(), sign()) == 200
        assert names["receive"](BODY.encode() + b" ", sign()) == 400


@pytest.fixture(scope="module")
def shop(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A merchant's project with the packed TypeScript client and the README's examples."""
    shop = tmp_path_factory.mktemp("shop")
    command = ["npm", "pack", "--ignore-scripts", "--offline", "--pack-destination", shop]
    subprocess.run(command, cwd=package, env=name_environment(), capture_output=True, check=True)
    (packed,) = shop.glob("crosschain-checkout-client-*.tgz")
    assert (ROOT / "clients" / "typescript" / "README.md").read_text().count(packed.name) == 2
    modules = shop / "node_modules"
    unpack(packed, modules)
    (modules / "package").rename(modules / "crosschain-checkout-client")
    (modules / "typescript").symlink_to(install_tools(TOOLS) / "node_modules" / "typescript")
    sell, rehearse, receive = read_examples("typescript", "typescript")
    files = {
        "sell.ts": sell,
        "rehearse.ts": rehearse,
        "receive.ts": receive,
        "types.ts": TYPES,
        "tsconfig.json": CONSUMER,
    }
    for name, text in {**files, "package.json": '{"type": "module"}'}.items():
        (shop / name).write_text(text)
    return shop


def test_the_npm_package_has_code_types_and_no_dependency(shop: Path) -> None:
    package = shop / "node_modules" / "crosschain-checkout-client"
    assert {path.name for path in package.iterdir()} == {"package.json", "README.md", "LICENSE", "dist"}
    assert {"index.js", "index.d.ts"} <= {path.name for path in (package / "dist").iterdir()}
    assert '"dependencies"' not in (package / "package.json").read_text()


def test_the_typescript_examples_compile_and_run(shop: Path, service: RunningService) -> None:
    assert len(read_examples("typescript", "typescript")[0].strip().splitlines()) <= 15
    compile_project(shop)
    (shop / "run.mjs").write_text(RUN)
    other = make_order(service)
    said = run_node("run.mjs", cwd=shop, URL=service.url, KEY=service.key, SECRET=SECRET, OTHER=other).split()
    assert said[0].startswith(f"{service.url}/payment/po_")
    assert said[1:] == ["10000000", "8453", "400"]
    check_rehearsed(service, said[0].rpartition("/")[2], other)
