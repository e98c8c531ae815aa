# pragma version ~=0.4.0
# Swaps some of the caller's tokens in a pool of Uniswap v3, then makes a call.

interface Token:
    def transferFrom(sender: address, recipient: address, amount: uint256) -> bool: nonpayable
    def transfer(recipient: address, amount: uint256) -> bool: nonpayable

interface Pool:
    def swap(to: address, is_first: bool, amount: int256, limit: uint160, data: Bytes[32]) -> (int256, int256): nonpayable

LEAST: constant(uint160) = 4295128740
MOST: constant(uint160) = 1461446703485210103287273052203988822378723970341
token: address


@external
def go(token: address, pool: address, is_first: bool, amount: uint256, swaps: uint256, to: address, data: Bytes[256]):
    self.token = token
    for each: uint256 in range(swaps, bound=4):
        extcall Token(token).transferFrom(msg.sender, self, amount)
        extcall Pool(pool).swap(msg.sender, is_first, convert(amount, int256), LEAST if is_first else MOST, b"")
    raw_call(to, data)


@external
def uniswapV3SwapCallback(first: int256, second: int256, data: Bytes[32]):
    extcall Token(self.token).transfer(msg.sender, convert(max(first, second), uint256))
