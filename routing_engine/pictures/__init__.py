"""Pictures of routes, markets and measurements, by matplotlib; each function returns its axes.

May import `amounts`, `analysis`, `backtest`, `batch`, `fixed_point`, `model`, `result`, `route` and `snapshot`. Begin
with `style.py`.
"""
