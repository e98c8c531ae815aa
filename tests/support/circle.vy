# pragma version ~=0.4.0
# Stands for both TokenMessengerV2 and MessageTransmitterV2 of circlefin/evm-cctp-contracts, whose bytecode no package
# has: the same functions and events, a burn that keeps the coins, and a mint that asks for no signature.

interface Coin:
    def transferFrom(sender: address, recipient: address, amount: uint256) -> bool: nonpayable
    def mint(recipient: address, amount: uint256): nonpayable


event DepositForBurn:
    burnToken: indexed(address)
    amount: uint256
    depositor: indexed(address)
    mintRecipient: bytes32
    destinationDomain: uint32
    destinationTokenMessenger: bytes32
    destinationCaller: bytes32
    maxFee: uint256
    minFinalityThreshold: indexed(uint32)
    hookData: Bytes[1024]


event MessageReceived:
    caller: indexed(address)
    sourceDomain: uint32
    nonce: indexed(bytes32)
    sender: bytes32
    finalityThresholdExecuted: indexed(uint32)
    messageBody: Bytes[2048]


HEADER: constant(uint256) = 148
coin: immutable(address)
received: HashMap[bytes32, bool]


@deploy
def __init__(usdc: address):
    coin = usdc


@external
def depositForBurnWithHook(
    amount: uint256,
    destinationDomain: uint32,
    mintRecipient: bytes32,
    burnToken: address,
    destinationCaller: bytes32,
    maxFee: uint256,
    minFinalityThreshold: uint32,
    hookData: Bytes[1024],
):
    assert amount > 0 and maxFee < amount and len(hookData) > 0 and burnToken == coin
    assert extcall Coin(coin).transferFrom(msg.sender, self, amount)
    log DepositForBurn(
        burnToken=burnToken,
        amount=amount,
        depositor=msg.sender,
        mintRecipient=mintRecipient,
        destinationDomain=destinationDomain,
        destinationTokenMessenger=convert(self, bytes32),
        destinationCaller=destinationCaller,
        maxFee=maxFee,
        minFinalityThreshold=minFinalityThreshold,
        hookData=hookData,
    )


@external
def receiveMessage(message: Bytes[2048], attestation: Bytes[65]) -> bool:
    nonce: bytes32 = convert(slice(message, 12, 32), bytes32)
    assert not self.received[nonce]
    self.received[nonce] = True
    body: Bytes[2048] = slice(message, HEADER, len(message) - HEADER)
    recipient: address = convert(convert(slice(body, 36, 32), bytes32), address)
    amount: uint256 = convert(slice(body, 68, 32), uint256)
    mostFee: uint256 = convert(slice(body, 132, 32), uint256)
    fee: uint256 = convert(slice(body, 164, 32), uint256)
    assert fee <= mostFee
    extcall Coin(coin).mint(recipient, amount - fee)
    log MessageReceived(
        caller=msg.sender,
        sourceDomain=convert(slice(message, 4, 4), uint32),
        nonce=nonce,
        sender=convert(slice(message, 44, 32), bytes32),
        finalityThresholdExecuted=convert(slice(message, 144, 4), uint32),
        messageBody=body,
    )
    return True
