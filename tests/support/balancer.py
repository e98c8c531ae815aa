"""Balancer v2's vault and pools as their authors compiled them, deployed with test tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eth_abi import encode
from eth_utils.crypto import keccak

from routing_engine.model import Token
from tests.support.evm import ACTOR, FOREVER, Contract, Evm, Reverted
from tests.support.npm import BALANCER_V2, V4_PERIPHERY, artifact

PLENTY = 2**200
GIVEN_IN, GIVEN_OUT = 0, 1
NOBODY = "0x" + "0" * 40
MONTH = 30 * 24 * 3600


def compiled(path: str) -> dict[str, Any]:
    """Return a contract of the deployments package by ``task/Name``."""
    task, name = path.rsplit("/", 1)
    return artifact(BALANCER_V2, f"dist/tasks/{task}/artifact/{name}.json")


def linked(code: dict[str, Any], **libraries: str) -> dict[str, Any]:
    """Put the addresses of libraries into a contract's bytecode."""
    bytecode = code["bytecode"]
    for file in code["linkReferences"].values():
        for name, places in file.items():
            for place in places:
                start = 2 + 2 * place["start"]
                bytecode = bytecode[:start] + libraries[name][2:].lower() + bytecode[start + 40 :]
    return {**code, "bytecode": bytecode}


def token_abi() -> list[dict[str, Any]]:
    return artifact(V4_PERIPHERY, "foundry-out/MockERC20.sol/MockERC20.json")["abi"]


def mock_token(evm: Evm, decimals: int) -> Contract:
    """Deploy a token of which the actor holds plenty."""
    found = artifact(V4_PERIPHERY, "foundry-out/MockERC20.sol/MockERC20.json")
    token = evm.deploy({"abi": found["abi"], "bytecode": found["bytecode"]["object"]}, "Test", "TST", decimals)
    token("mint", ACTOR, PLENTY)
    return token


def described(contract: Contract, decimals: int) -> Token:
    """Return the engine's token for a deployed one."""
    return Token(chain_id=1, address=contract.address.lower(), symbol=contract.address[2:6], decimals=decimals)


def answering_token(evm: Evm, decimals: int, answers: dict[str, int]) -> Contract:
    """Deploy a token that also answers some functions, named by signature, with constants."""
    token = mock_token(evm, decimals)
    checks = bytes.fromhex("5f3560e01c")
    for signature, answer in answers.items():
        word = bytes.fromhex("7f") + answer.to_bytes(32) + bytes.fromhex("5f5260205ff3")
        # Jump over the answer unless the selector is this one.
        target = len(checks) + 11 + len(word)
        test = bytes.fromhex("8063") + keccak(text=signature)[:4] + bytes.fromhex(f"1861{target:04x}57")
        checks += test + word + bytes.fromhex("5b")
    call = bytes.fromhex("365f5f375f5f365f73") + bytes.fromhex(token.address[2:]) + bytes.fromhex("5af43d5f5f3e")
    end = len(checks) + len(call) + 7
    code = checks + call + bytes.fromhex(f"61{end:04x}573d5ffd5b3d5ff3")
    header = bytes.fromhex(f"61{len(code):04x}600c5f3961{len(code):04x}5ff3")
    wrapped = evm.at(evm.engine.deploy(ACTOR, header + code), token_abi())
    wrapped("mint", ACTOR, PLENTY)
    return wrapped


def rate_provider(evm: Evm, rate: int) -> str:
    """Deploy a contract that answers every call with one number, and return its address."""
    runtime = bytes.fromhex("7f") + rate.to_bytes(32) + bytes.fromhex("5f5260205ff3")
    header = bytes.fromhex(f"60{len(runtime):02x}600a5f3960{len(runtime):02x}5ff3")
    return evm.engine.deploy(ACTOR, header + runtime)


@dataclass(frozen=True)
class Vault:
    """The vault, with nobody's protocol fees."""

    evm: Evm
    contract: Contract

    @classmethod
    def deploy(cls, evm: Evm) -> Vault:
        authorizer = evm.deploy(compiled("20210418-authorizer/Authorizer"), ACTOR)
        contract = evm.deploy(compiled("20210418-vault/Vault"), authorizer.address, ACTOR, 3 * MONTH, MONTH)
        return cls(evm, contract)

    def fee_provider(self) -> Contract:
        """Deploy what later factories ask for protocol fees."""
        name = "20220725-protocol-fee-percentages-provider/ProtocolFeePercentagesProvider"
        return self.evm.deploy(compiled(name), self.contract.address, 10**18, 10**18)

    def tokens(self, decimals: Sequence[int]) -> list[tuple[Contract, int]]:
        """Deploy tokens that the vault may take, sorted by address as pools want them."""
        tokens = sorted(
            ((mock_token(self.evm, each), each) for each in decimals), key=lambda it: int(it[0].address, 16)
        )
        for token, _ in tokens:
            token("approve", self.contract.address, 2**256 - 1)
        return tokens

    def pool(self, address: str, abi_of: str) -> Pool:
        """Return the pool at an address, with the interface of a compiled contract."""
        contract = self.evm.at(address, compiled(abi_of)["abi"])
        return Pool(self, contract, contract("getPoolId"))


@dataclass(frozen=True)
class Pool:
    """One registered pool."""

    vault: Vault
    contract: Contract
    id: bytes

    def join(self, tokens: Sequence[str], amounts: Sequence[int]) -> None:
        """Make the first join, with these amounts of the tokens in the pool's order."""
        user_data = encode(["uint256", "uint256[]"], [0, amounts])
        request = (tokens, [PLENTY if amount else 2**255 for amount in amounts], user_data, False)
        self.vault.contract("joinPool", self.id, ACTOR, ACTOR, request)

    def balances(self) -> tuple[int, ...]:
        """Return what the vault holds for the pool."""
        return tuple(self.vault.contract("getPoolTokens", self.id)[1])

    def swap(self, kind: int, sold: Token, bought: Token, amount: int) -> int:
        """Swap for real; return the other amount."""
        single = (self.id, kind, sold.address, bought.address, amount, b"")
        bound = 0 if kind == GIVEN_IN else PLENTY
        return self.vault.contract("swap", single, (ACTOR, False, ACTOR, False), bound, FOREVER)

    def ask(self, kind: int, sold: Token, bought: Token, amount: int) -> int:
        """Ask the vault what a swap would give or cost, changing nothing.

        Raises
        ------
        Reverted
            If the pool refuses.
        """
        step = (self.id, 0, 1, amount, b"")
        funds = (ACTOR, False, ACTOR, False)
        deltas = self.vault.contract("queryBatchSwap", kind, [step], [sold.address, bought.address], funds)
        return -deltas[1] if kind == GIVEN_IN else deltas[0]

    def refuses(self, kind: int, sold: Token, bought: Token, amount: int) -> bool:
        """Tell whether the pool refuses a swap."""
        try:
            self.ask(kind, sold, bought, amount)
        except Reverted:
            return True
        return False
