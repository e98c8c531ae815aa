# pragma version ~=0.4.0
# What a wallet's account delegates to (EIP-7702) so that it can do several calls in one transaction, all or none.

struct Call:
    to: address
    value: uint256
    data: Bytes[16384]


@external
@payable
def execute(calls: DynArray[Call, 8]):
    assert msg.sender == self, "only the account itself"
    for call: Call in calls:
        raw_call(call.to, call.data, value=call.value)


@external
@payable
def __default__():
    pass
