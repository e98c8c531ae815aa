"""A browser wallet that signs with an account of a local chain, and does what the test tells it to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from eth_abi import encode
from eth_account import Account
from playwright.sync_api import BrowserContext, Page

from tests.support.evm import Reverted
from tests.support.main_net import MainNet
from tests.support.vyper_source import compiled

PAYER = "0x" + "aa" * 20
DELEGATED_TO = bytes.fromhex("ef0100")
"""Before the address of a contract: the code of an account that delegates to it."""
INJECTED = """
for (const [number, name] of %s.entries()) {
  const provider = {
    async request({ method, params }) {
      const ask = async () => JSON.parse(await window.askWallet(name, method, JSON.stringify(params ?? [])));
      let told = await ask();
      while (told.held) {
        await new Promise((resolve) => { window.addEventListener("wallet-answers", resolve, { once: true }); });
        told = await ask();
      }
      if (told.error) throw Object.assign(new Error(told.error.message), told.error);
      return told.result;
    },
  };
  const info = { uuid: `wallet-${number}`, name, icon: "data:image/png;base64,", rdns: `test.wallet${number}` };
  provider.on = (name, tell) => {
    if (name === "accountsChanged") window.addEventListener("wallet-account", ({ detail }) => tell(detail));
  };
  const announce = () => {
    const detail = Object.freeze({ info, provider });
    window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
  };
  window.addEventListener("eip6963:requestProvider", announce);
  announce();
}
"""


class WalletError(Exception):
    """What a wallet throws: a code of EIP-1193 or JSON-RPC."""

    def __init__(self, code: int, message: str = "no") -> None:
        super().__init__(message)
        self.code = code


@dataclass
class TestWallet:
    """One account; `declines` are methods that its user refuses, `knows` the chains that it can switch to.

    Of transactions its user refuses the one with the number `declines_from`, and all after it.
    To what it `holds` its user says nothing until `confirm`; `prompts` are the requests that wait so. `failures` are
    errors that it gives instead of an answer; in `fails_after` are methods that it carries out, and then fails, in
    `forgets` those that it carries out and never answers. With a
    `key` it signs typed data.
    An atomic one does several calls in one transaction: its account delegates to a contract that does (EIP-7702).
    What happens `before_batch` the page does not see coming.
    """

    __test__ = False

    net: MainNet
    chain: str = "0x1"
    knows: frozenset[str] = frozenset({"0x1", "0x2105"})
    is_atomic: bool = False
    is_connected: bool = False
    declines: set[str] = field(default_factory=set)
    declines_from: int = 0
    holds: set[str] = field(default_factory=set)
    prompts: list[str] = field(default_factory=list)
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)
    fails_after: set[str] = field(default_factory=set)
    forgets: set[str] = field(default_factory=set)
    gas_price: str = "0x1"
    account: str = PAYER
    key: bytes = b""
    asked: list[tuple[str, str]] = field(default_factory=list)
    batches: dict[str, str] = field(default_factory=dict)
    added: list[dict[str, Any]] = field(default_factory=list)
    before_batch: Callable[[], None] = lambda: None

    def inject(self, where: Page | BrowserContext, *names: str) -> None:
        """Put the wallet into a tab, or into every page of a browser, under each of these names."""
        where.expose_function("askWallet", self.answer)
        where.add_init_script(INJECTED % json.dumps(names))

    def answer(self, name: str, method: str, parameters: str) -> str:
        """Answer the page."""
        if method in self.holds:
            self.prompts.append(method)
            return json.dumps({"held": True})
        self.asked.append((name, method))
        if method in self.failures:
            return json.dumps({"error": self.failures[method]})
        try:
            if method in self.declines or self._is_refused(method):
                raise WalletError(4001, "User rejected the request.")
            result = self._result(method, json.loads(parameters))
            if method in self.forgets:
                self.holds.add(method)
                return json.dumps({"held": True})
            if method in self.fails_after:
                raise WalletError(-32603, '{"code":-32603,"message":"socket hang up"}')
            return json.dumps({"result": result})
        except WalletError as error:
            return json.dumps({"error": {"code": error.code, "message": str(error)}})
        except Reverted as error:
            return json.dumps({"error": {"code": -32603, "message": str(error)}})

    def confirm(self, *pages: Page) -> None:
        """Say yes to everything that waits."""
        self.holds, self.prompts = set(), []
        for page in pages:
            page.evaluate("() => window.dispatchEvent(new Event('wallet-answers'))")

    def _is_refused(self, method: str) -> bool:
        if not self.declines_from or method != "eth_sendTransaction":
            return False
        return [each for _, each in self.asked].count(method) >= self.declines_from

    def _result(self, method: str, parameters: list[Any]) -> Any:
        match method:
            case "eth_accounts":
                return [self.account] if self.is_connected else []
            case "eth_requestAccounts":
                self.is_connected = True
                return [self.account]
            case "eth_chainId":
                return self.chain
            case "wallet_switchEthereumChain":
                return self._switch(parameters[0]["chainId"])
            case "wallet_addEthereumChain":
                self.added.append(parameters[0])
                self.knows |= {parameters[0]["chainId"]}
                return None
            case "eth_call" | "eth_getBalance":
                return self.net.chain.rpc(method, *parameters)
            case "eth_sendTransaction":
                return self._send(parameters[0])
            case "eth_getTransactionReceipt":
                return self.net.chain.rpc(method, *parameters)
            case "eth_signTypedData_v4" if self.key:
                signed = Account.sign_typed_data(self.key, full_message=json.loads(parameters[1]))
                return "0x" + signed.signature.hex()
            case "wallet_getCapabilities" if self.is_atomic:
                return {chain: {"atomic": {"status": "supported"}} for chain in parameters[1]}
            case "wallet_sendCalls" if self.is_atomic:
                return self._send_all(parameters[0])
            case "wallet_getCallsStatus":
                return self._status(parameters[0])
        raise WalletError(-32601, f"the method {method} does not exist")

    def _switch(self, chain: str) -> None:
        if chain not in self.knows:
            raise WalletError(4902, "Unrecognized chain ID")
        self.chain = chain

    def _send(self, transaction: dict[str, str]) -> str:
        assert self.chain == hex(self.net.chain.chain_id), "the page must have switched before"
        sent: str = self.net.chain.rpc(
            "eth_sendTransaction", {"gas": "0x4c4b40", **transaction, "gasPrice": self.gas_price}
        )
        self.net.chain.mine()
        return sent

    def _send_all(self, order: dict[str, Any]) -> dict[str, str]:
        assert (order["version"], order["atomicRequired"], order["chainId"]) == ("2.0.0", True, self.chain)
        chain, account = self.net.chain, compiled("smart_account")
        delegate = chain.deploy(account)
        chain.set_code(order["from"], DELEGATED_TO + bytes.fromhex(delegate.address[2:]))
        calls = [(each["to"], int(each["value"], 16), bytes.fromhex(each["data"][2:])) for each in order["calls"]]
        execute = delegate.functions["execute"]
        data = execute.selector + encode(execute.inputs, [calls])
        self.before_batch()
        name = f"0x{len(self.batches) + 1:064x}"
        self.batches[name] = self._send({"from": order["from"], "to": order["from"], "data": "0x" + data.hex()})
        return {"id": name}

    def _status(self, batch: str) -> dict[str, Any]:
        receipt = self.net.chain.rpc("eth_getTransactionReceipt", self.batches[batch])
        status = 200 if receipt["status"] == "0x1" else 500
        return {"id": batch, "chainId": self.chain, "atomic": True, "status": status, "receipts": [receipt]}
