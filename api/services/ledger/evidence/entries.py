"""Contracts that call an account only at its own bidding: the entry points of ERC-4337.

An account says by its own code that it wants an operation done before the entry point calls it. Of any other contract
between a transaction and what lost money in it nobody can say whether it is a relay or somebody who draws.
"""

from __future__ import annotations

ENTRY_POINTS = frozenset(
    {
        "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789",
        "0x0000000071727de22e5e9d8baf0edac6f37da032",
        "0x4337084d9e255ff0702461cf8895ce9e3b5ff108",
        "0x433709009b8330fda32311df1c2afa402ed8d009",
    }
)
"""Of the versions 0.6 to 0.9, at the same address on every chain, in lower case."""
