"""The local chain that adapters and payments are tested on."""

from __future__ import annotations

import json
import urllib.request

import pytest

from tests.support.anvil import running_anvil


@pytest.mark.parametrize("chain_id", [1, 8453])
def test_anvil_answers_with_its_chain_id(chain_id):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}).encode()
    with running_anvil(chain_id) as address:
        request = urllib.request.Request(address, body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert int(json.load(answer)["result"], 16) == chain_id
