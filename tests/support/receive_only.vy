# pragma version ~=0.4.0
# An account that takes coin only without calldata, as Solidity's `receive` does.


@external
@payable
def __default__():
    assert len(msg.data) == 0
