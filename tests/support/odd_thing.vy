# pragma version ~=0.4.0
# Things of other kinds: ERC-6909, CryptoPunks, and what says only in its sale's event who sold.

event Transfer:
    caller: address
    sender: indexed(address)
    receiver: indexed(address)
    id: indexed(uint256)
    amount: uint256

event PunkTransfer:
    sender: indexed(address)
    recipient: indexed(address)
    number: uint256

event Sold:
    number: uint256
    seller: address

event SoldAtLength:
    buyers: address[40]
    seller: address


@external
def hand_over_numbered(sender: address, receiver: address):
    log Transfer(caller=msg.sender, sender=sender, receiver=receiver, id=7, amount=10**18)


@external
def hand_over_punk(sender: address, receiver: address):
    log PunkTransfer(sender=sender, recipient=receiver, number=7)


@external
def hand_over_and_say_who(sender: address, receiver: address):
    log Sold(number=7, seller=sender)


@external
def hand_over_at_length(sender: address, receiver: address):
    buyers: address[40] = empty(address[40])
    for place: uint256 in range(40):
        buyers[place] = receiver
    log SoldAtLength(buyers=buyers, seller=sender)
