# pragma version ~=0.4.0
# A thing that can't be divided (ERC-721), and one of which there are several (ERC-1155), for whoever says so.

event Transfer:
    sender: indexed(address)
    recipient: indexed(address)
    number: indexed(uint256)

event TransferSingle:
    operator: indexed(address)
    sender: indexed(address)
    recipient: indexed(address)
    number: uint256
    amount: uint256

event TransferBatch:
    operator: indexed(address)
    sender: indexed(address)
    recipient: indexed(address)
    numbers: DynArray[uint256, 4]
    amounts: DynArray[uint256, 4]


@external
def hand_over(sender: address, recipient: address):
    log Transfer(sender=sender, recipient=recipient, number=7)


@external
def hand_over_some(sender: address, recipient: address):
    log TransferSingle(operator=msg.sender, sender=sender, recipient=recipient, number=7, amount=2)


@external
def hand_over_several(sender: address, recipient: address):
    log TransferBatch(operator=msg.sender, sender=sender, recipient=recipient, numbers=[7, 8], amounts=[1, 1])
