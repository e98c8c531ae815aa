# pragma version ~=0.4.0
# Does whatever calls it is told to, for anybody: a multicall, an entry point, somebody's account, or a thief's tool.

struct Call:
    to: address
    value: uint256
    data: Bytes[8192]


@external
@payable
def run(calls: DynArray[Call, 8]):
    for call: Call in calls:
        raw_call(call.to, call.data, value=call.value)


@external
@payable
def attempt(calls: DynArray[Call, 8]):
    for call: Call in calls:
        success: bool = raw_call(call.to, call.data, value=call.value, revert_on_failure=False)


@external
@payable
def run_and_revert(calls: DynArray[Call, 8]):
    for call: Call in calls:
        raw_call(call.to, call.data, value=call.value)
    raise "all of it was for nothing"


@external
@payable
def __default__():
    pass
