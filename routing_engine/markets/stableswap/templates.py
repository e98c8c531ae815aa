"""Which of Curve's contract templates a main-net pool was made from, where it is not the usual one.

Templates differ in how they round D, whether they keep a unit back, and how they write balances. Sources: Curve's
contracts, and the groups of addresses that BowTiedDevil's degenbot found by comparing quotes with the contracts.
"""

from __future__ import annotations

from dataclasses import dataclass

from routing_engine.amm.stableswap import Product
from routing_engine.markets.stableswap.pool import Accounting


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """What `StableSwapPool` needs to know of a contract."""

    product: Product = Product.EACH
    spare: int = 1
    accounting: Accounting = Accounting.AMOUNTS


FIRST_LENDING = Template(product=Product.EACH_PLUS_ONE, spare=0, accounting=Accounting.INVARIANT)
STETH = Template(product=Product.EACH_PLUS_ONE)
OPTIMISED = Template(product=Product.LAST)
RATED = Template(accounting=Accounting.INVARIANT)

_OPTIMISED = """
    0x0ad66fec8db84f8a3365ada04ab23ce607ac6e24 0x1c899ded01954d0959e034b62a728e7febe593b0
    0x3f1b0278a9ee595635b61817630cc19de792f506 0x3fb78e61784c9c637d560ede23ad57ca1294c14a
    0x447ddd4960d9fdbf6af9a790560d0af76795cb08 0x453d92c7d4263201c69aacfaf589ed14202d83a4
    0x663ac72a1c3e1c4186cd3dcb184f216291f4878c 0x6a274de3e2462c7614702474d64d376729831dca
    0x7c0d189e1fecb124487226dcba3748bd758f98e4 0x875df0ba24ccd867f8217593ee27253280772a97
    0x99f5acc8ec2da2bc0771c32814eff52b712de1e5 0x9d0464996170c6b9e75eed71c68b99ddedf279e8
    0xb37d6c07482bc11cd28a1f11f1a6ad7b66dec933 0xb657b895b265c38c53fff00166cf7f6a3c70587d
    0xd6ac1cb9019137a896343da59dde6d097f710538 0xe95e4c2dac312f31dc605533d5a4d0af42579308
    0xf7b55c3732ad8b2c2da7c24f30a69f55c54fb717 0x1062fd8ed633c1f080754c19317cb3912810b5e5
    0x1c5f80b6b68a9e1ef25926eee00b5255791b996b 0x26f3f26f46cbee59d1f8860865e13aa39e36a8c0
    0x2d600bbbcc3f1b6cb9910a70bab59ec9d5f81b9a 0x320b564fb9cf36933ec507a846ce230008631fd3
    0x3b21c2868b6028cfb38ff86127ef22e68d16d53b 0x69accb968b19a53790f43e57558f5e443a91af22
    0x971add32ea87f10bd192671630be3be8a11b8623 0xca0253a98d16e9c1e3614cafda19318ee69772d0
    0xfbb481a443382416357fa81f16db5a725dc6cec8 0xda5b670ccd418a187a3066674a8002adc9356ad1
"""

TEMPLATES: dict[str, Template] = {
    "0xa2b47e3d5c44877cca798226b7b8118f9bfb7a56": FIRST_LENDING,
    "0x45f783cce6b7ff23b2ab2d70e416cdb7d6055f51": FIRST_LENDING,
    "0x79a8c46dea5ada233abaffd40f3a0a2b1e5a4f27": FIRST_LENDING,
    "0xa5407eae9ba41422680e2e00537571bcc53efbfd": FIRST_LENDING,
    "0xdc24316b9ae028f1497c275eb9192a3ea0f67022": STETH,
    "0xf9440930043eb3997fc70e1339dbb11f341de7a8": RATED,
    "0xa96a65c051bf88b4095ee1f2451c2a9d43f53ae2": RATED,
    **dict.fromkeys(_OPTIMISED.split(), OPTIMISED),
}
"""By address on Ethereum."""

HOLD_NATIVE = (
    "0xdc24316b9ae028f1497c275eb9192a3ea0f67022",
    "0xc5424b857f758e906013f3555dad202e4bdb4567",
    "0xf9440930043eb3997fc70e1339dbb11f341de7a8",
)
"""Pools on Ethereum whose first coin is the chain's own, though some sources write its wrapped token instead."""


def template_of(chain_id: int, address: str) -> Template:
    """Return the template of a pool; the usual one for addresses that are not listed."""
    return TEMPLATES.get(address.lower(), Template()) if chain_id == 1 else Template()
