"""Strategies tried on a recorded market: fills some blocks later, exact, with gas and failures.

May import `analysis`, `batch`, `errors`, `fixed_point`, `frames`, `history`, `model`, `reference`, `request`,
`result`, `route`, `router`, `snapshot` and `values`. Begin with `backtest.py`.
"""
