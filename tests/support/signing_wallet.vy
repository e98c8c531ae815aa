# pragma version ~=0.4.0
# A contract that pays, and says by its owner's key whether it has signed (ERC-1271); it can be made to burn all gas.

owner: public(address)
burns: public(bool)


@deploy
def __init__(owner: address):
    self.owner = owner


@external
def pass_on(owner: address):
    self.owner = owner


@external
def burn_gas():
    self.burns = True


@external
@payable
def call(to: address, amount: uint256, data: Bytes[16384]):
    raw_call(to, data, value=amount)


@external
@view
def isValidSignature(digest: bytes32, signature: Bytes[65]) -> bytes4:
    if self.burns:
        for i: uint256 in range(10000000):
            assert i < 10000000
    r: bytes32 = convert(slice(signature, 0, 32), bytes32)
    s: bytes32 = convert(slice(signature, 32, 32), bytes32)
    v: uint256 = convert(slice(signature, 64, 1), uint256)
    if ecrecover(digest, v, r, s) == self.owner:
        return 0x1626ba7e
    return 0xffffffff


@external
@payable
def __default__():
    pass
