# pragma version ~=0.4.0
# A thing that can't be divided, of the time before there was ERC-721: nothing of its event is a topic.

event Transfer:
    sender: address
    recipient: address
    number: uint256


@external
def hand_over_kitty(sender: address, receiver: address):
    log Transfer(sender=sender, recipient=receiver, number=7)
