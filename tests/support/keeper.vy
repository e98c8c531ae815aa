# pragma version ~=0.4.0
# Keeps tokens for many in one pot, as escrows, splitters and streams do: whoever likes has it pay somebody what is his.

event Deposited:
    owner: indexed(address)
    amount: uint256

event PaidOut:
    owner: indexed(address)
    amount: uint256

interface Token:
    def transferFrom(sender: address, recipient: address, amount: uint256) -> bool: nonpayable
    def transfer(recipient: address, amount: uint256) -> bool: nonpayable

balances: HashMap[address, HashMap[address, uint256]]


@external
def deposit(token: address, owner: address, amount: uint256):
    extcall Token(token).transferFrom(msg.sender, self, amount)
    self.balances[token][owner] += amount
    log Deposited(owner=owner, amount=amount)


@external
def pay_out(token: address, owner: address):
    amount: uint256 = self.balances[token][owner]
    self.balances[token][owner] = 0
    extcall Token(token).transfer(owner, amount)
    log PaidOut(owner=owner, amount=amount)


@external
def forward(token: address, recipient: address, amount: uint256):
    extcall Token(token).transferFrom(msg.sender, self, amount)
    extcall Token(token).transfer(recipient, amount)


@external
def several(calls: DynArray[Bytes[256], 4]):
    for call: Bytes[256] in calls:
        raw_call(self, call, is_delegate_call=True)


@external
def call_back(data: Bytes[2048]):
    raw_call(msg.sender, data)
