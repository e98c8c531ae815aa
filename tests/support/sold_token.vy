# pragma version ~=0.4.0
# A token that keeps something else for its holders too, and says only in its sale's event who sold.

event Transfer:
    sender: indexed(address)
    recipient: indexed(address)
    amount: uint256

event Sold:
    number: uint256
    seller: address


@external
def hand_over_and_pay(seller: address, buyer: address, merchant: address):
    log Transfer(sender=buyer, recipient=merchant, amount=1)
    log Sold(number=7, seller=seller)
