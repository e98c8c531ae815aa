"""Words that the field's own have replaced, and where they may not come back as identifiers."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from tests.architecture.source import Module, read_modules

ENGINE, KERNELS, SEARCH = "routing_engine", "routing_engine.kernels", "routing_engine.search"
ADAPTERS, CHAIN, API, WEBHOOKS = "adapters", "adapters.chain", "api", "api.services.webhooks"

FAMILIES = re.compile(r"routing_engine\.(markets|amm)(?=\.)")
"""Packages whose modules say the same of different kinds."""

REPLACED: Mapping[str, tuple[str, str]] = {
    "worth": ("dual price", ENGINE),
    "worths": ("dual prices", ENGINE),
    "toll": ("minimum gain", ENGINE),
    "tolls": ("minimum gains", ENGINE),
    "crumbs": ("arbitrage surplus", ENGINE),
    "bend": ("second derivative", ENGINE),
    "steepest": ("max_average_price", ENGINE),
    "near": ("is_adjacent", KERNELS),
    "beside": ("adjacent", KERNELS),
    "sip": ("a name that says what the amount is for", ENGINE),
    "nobody": ("a name that says what is missing", ENGINE),
    "fuel": ("gas", ENGINE),
    "spared": ("a name that says what is kept", ENGINE),
    "Board": ("GraphArrays", ENGINE),
    "Load": ("FlowState", ENGINE),
    "Task": ("SplitProblem", ENGINE),
    "Division": ("Allocation", SEARCH),
    "Network": ("FlowPlan", SEARCH),
    "Claim": ("Lease", WEBHOOKS),
    "Lanes": ("InFlight", WEBHOOKS),
    "Feed": ("PriceFeed", CHAIN),
    "CaptureJournal": ("CaptureLog", ADAPTERS),
    "Desk": ("PaymentBuilders, FirmQuoter", ADAPTERS),
    "PaymentDesk": ("PaymentBuilders, FirmQuoter", API),
    "PaymentWorld": ("ChainAccess", API),
    "Sighting": ("ChainObservation", API),
    "sighting": ("observation", API),
    "given_back": ("bridge_refund", API),
}
"""Old word → the field's, and the package in which it is gone. A capital means this very class; a word in small letters
is also looked for within longer names."""


def find_replaced() -> list[tuple[str, str]]:
    """Return the replaced words that are identifiers still, with the modules where they are."""
    found = set()
    for module in read_modules().values():
        banned = {word for word, (_, scope) in REPLACED.items() if f"{module.name}.".startswith(f"{scope}.")}
        found |= {(word, module.name) for name in list_identifiers(module) for word in banned if holds(name, word)}
    return sorted(found)


def list_shared_class_names() -> Mapping[str, list[str]]:
    """Return the names of public classes that are defined more than once, with their modules.

    Markets of each kind keep to the same names for the same parts; those of one family count once.
    """
    homes: dict[str, set[str]] = defaultdict(set)
    for module in read_modules().values():
        family = FAMILIES.match(module.name)
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(family[0] if family else module.name)
    return {name: sorted(modules) for name, modules in homes.items() if len(modules) > 1}


def holds(name: str, word: str) -> bool:
    """Tell whether an identifier is, or contains, a word."""
    if not word.islower():
        return name == word
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return f"_{word}_" in f"_{snake}_"


def list_identifiers(module: Module) -> Iterator[str]:
    """Yield every name that a module's code defines or uses, its own included."""
    yield module.name.rpartition(".")[2]
    for node in ast.walk(module.tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name):
                yield name.rpartition(".")[2]
