"""Pools of the Solidly family: strategies, and answers that deployed contracts gave."""

from __future__ import annotations

from hypothesis import strategies as st

from routing_engine.markets import Fork, SolidlyPool
from tests.support.strategies import magnitudes, make_token

FEES = (0, 100, 500, 3_000, 20_000)


@st.composite
def solidly_pools(draw: st.DrawFn) -> SolidlyPool:
    """Pools from about one token to a hundred million, balanced or not; dust pools are closed, not wrong."""
    decimals = draw(st.sampled_from((6, 8, 18))), draw(st.sampled_from((6, 8, 18)))
    stable, fork = draw(st.booleans()), draw(st.sampled_from(Fork))
    whole, ratio = draw(magnitudes(1, 10**8)), draw(magnitudes(1, 10**6))
    pays_owner = stable and fork is Fork.CAMELOT
    return SolidlyPool(
        id="1:0xsolidly",
        protocol=fork.value,
        token0=make_token(1, decimals[0]),
        token1=make_token(2, decimals[1]),
        reserve0=whole * 10 ** decimals[0] + draw(st.integers(0, 10 ** decimals[0])),
        reserve1=max(1, whole * 10 ** decimals[1] * ratio // 1_000),
        stable=stable,
        fork=fork,
        fee0_pips=draw(st.sampled_from(FEES)),
        fee1_pips=draw(st.sampled_from(FEES)),
        owner_share_pips=draw(st.sampled_from((0, 400_000))) if pays_owner else 0,
    )


DOLA_USDBC = (50505815806501471698332, 35728582212)
"""Reserves of Aerodrome's stable pool 0x0b25c51637c43decd6cc1c1e3da4518d54ddb528 at Base block 46875151, fee 0.3 %.

The answers below are ``getAmountOut`` of the deployed contract there, recorded by the tests of BowTiedDevil/degenbot
(MIT), as (amount in, amount out).
"""
DOLA_TO_USDBC = (
    (50505815806501, 49),
    (505058158065014, 498),
    (5050581580650147, 4985),
    (50505815806501464, 49850),
    (505058158065014720, 498500),
    (5050581580650146816, 4984956),
    (50505815806501470208, 49844952),
    (505058158065014669312, 497968085),
    (5050581580650147479552, 4908690426),
    (6313226975812683563008, 6100998841),
    (12626453951625367126016, 11711559442),
    (25252907903250734252032, 20422836145),
    (37879361854876105572352, 25812298556),
)
USDBC_TO_DOLA = (
    (35, 35354019119091),
    (357, 359600879945923),
    (3572, 3598029005454414),
    (35728, 35981297802640553),
    (357285, 359816781815458840),
    (3572858, 3598144158903318837),
    (35728582, 35979080340799549320),
    (357285822, 359562580143866724021),
    (3572858221, 3579409245742378821061),
    (4466072776, 4470812162332590113040),
    (8932145553, 8923910922114957031667),
    (17864291106, 17756508337375211479925),
    (26796436659, 25942341819868759109482),
)

TBTC_WETH = (672268485917529554, 23978294154411975066)
"""Reserves of Aerodrome's volatile pool 0x2722c8f9b5e2ac72d1f225f8e8c990e449ba0078 at the same block, fee 0.3 %."""
TBTC_TO_WETH = (
    (672268485, 23906359231),
    (6722684859, 239063590350),
    (67226848591, 2390635688849),
    (672268485917, 23906335437340),
    (6722684859175, 239061209279239),
    (67226848591752, 2390397604553675),
    (672268485917529, 23882548371222631),
    (6722684859175296, 236703657256638750),
    (67226848591752960, 2173898269705259699),
    (84033560739691200, 2657147857280064549),
    (168067121479382400, 4784142339793624269),
    (336134242958764800, 7976763187170083500),
    (504201364438147200, 10258772395343473076),
)
WETH_TO_TBTC = (
    (23978294154, 670251679),
    (239782941544, 6702516737),
    (2397829415441, 67025161363),
    (23978294154411, 670251012219),
    (239782941544119, 6702449981171),
    (2397829415441197, 67018486302893),
    (23978294154411976, 669584105106985),
    (239782941544119744, 6636352371454369),
    (2397829415441197568, 60948593294514593),
    (2997286769301496832, 74497241353759803),
    (5994573538602993664, 134130814580703813),
    (11989147077205987328, 223640867687613265),
    (17983720615808980992, 287620518005912012),
)
