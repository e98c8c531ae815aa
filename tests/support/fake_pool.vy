# pragma version ~=0.4.0
# Says that it is a market of a factory that never made it, and pays out what somebody left with it.

interface Token:
    def transfer(recipient: address, amount: uint256) -> bool: nonpayable
    def transferFrom(sender: address, recipient: address, amount: uint256) -> bool: nonpayable

event Swap:
    sender: indexed(address)
    amount0In: uint256
    amount1In: uint256
    amount0Out: uint256
    amount1Out: uint256
    to: indexed(address)

factory: public(immutable(address))
token0: public(immutable(address))
token1: public(immutable(address))


@deploy
def __init__(made_by: address, first: address, second: address):
    factory = made_by
    token0 = first
    token1 = second


@external
def pay(token: address, take: uint256, give: uint256, recipient: address):
    extcall Token(token).transferFrom(msg.sender, self, take)
    extcall Token(token).transfer(recipient, give)
    log Swap(sender=msg.sender, amount0In=take, amount1In=0, amount0Out=give, amount1Out=0, to=recipient)
