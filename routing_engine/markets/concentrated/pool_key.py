"""The id of a Uniswap v4 pool, which commits to its tokens, fee, spacing and hooks.

A record that gives the id thus proves what it leaves out: no other key hashes to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS, Token

NO_HOOKS = ZERO_ADDRESS

_RATE = 136
_LANE = (1 << 64) - 1


def _round_constants() -> list[int]:
    """Return the 24 constants of Keccak's iota step, bits of a linear feedback shift register."""
    constants, register = [], 1
    for _ in range(24):
        constant = 0
        for power in range(7):
            if register & 1:
                constant |= 1 << ((1 << power) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(constant)
    return constants


def _rotations() -> list[int]:
    """Return how far each of the 25 lanes is rotated by Keccak's rho step."""
    offsets, x, y = [0] * 25, 1, 0
    for step in range(24):
        offsets[x + 5 * y] = (step + 1) * (step + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return offsets


_ROUND_CONSTANTS = _round_constants()
_ROTATIONS = _rotations()


def keccak256(message: bytes) -> bytes:
    """Return the hash that Ethereum uses: Keccak with a rate of 136 bytes and padding of its own."""
    padded = bytearray(message) + b"\x01" + bytes(_RATE - 1 - len(message) % _RATE)
    padded[-1] |= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), _RATE):
        for place in range(_RATE // 8):
            lanes[place] ^= int.from_bytes(padded[start + 8 * place : start + 8 * place + 8], "little")
        lanes = _permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])


def pool_id(tokens: Sequence[Token], fee_pips: int, tick_spacing: int, hooks: str = NO_HOOKS) -> str:
    """Return ``PoolKey.toId()`` of a pool of two tokens, in the contract's order."""
    currencies = [int(ZERO_ADDRESS if token.is_native else token.address, 16) for token in tokens]
    words = (*currencies, fee_pips, tick_spacing, int(hooks, 16))
    return "0x" + keccak256(b"".join(word.to_bytes(32, "big") for word in words)).hex()


def unwrapped(tokens: Sequence[Token], wrapped_native: str) -> list[Token]:
    """Return the tokens with the chain's native coin in place of its wrapped one.

    Some sources write the wrapped token where the pool holds the coin.
    """
    return [
        Token(chain_id=token.chain_id, address=NATIVE_ADDRESS, symbol=token.symbol.removeprefix("W"), decimals=18)
        if token.address == wrapped_native
        else token
        for token in tokens
    ]


def _rotate(lane: int, by: int) -> int:
    return (lane << by | lane >> (64 - by)) & _LANE


def _permute(lanes: list[int]) -> list[int]:
    """Apply Keccak-f[1600]; lane (x, y) stands at x + 5 * y."""
    for constant in _ROUND_CONSTANTS:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        mixed = [columns[x - 1] ^ _rotate(columns[(x + 1) % 5], 1) for x in range(5)]
        moved = [0] * 25
        for place in range(25):
            x, y = place % 5, place // 5
            moved[y + 5 * ((2 * x + 3 * y) % 5)] = _rotate(lanes[place] ^ mixed[x], _ROTATIONS[place])
        lanes = [
            moved[place] ^ (~moved[(place + 1) % 5 + place // 5 * 5] & _LANE & moved[(place + 2) % 5 + place // 5 * 5])
            for place in range(25)
        ]
        lanes[0] ^= constant
    return lanes
