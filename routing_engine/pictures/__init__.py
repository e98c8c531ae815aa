"""Pictures of routes, markets and measurements, by matplotlib; each function returns its axes.

May import `amounts`, `analysis`, `backtest`, `batch`, `errors`, `fixed_point`, `model`, `result`, `route` and
`snapshot`. Begin with `style.py`.
"""

from importlib.util import find_spec

if find_spec("matplotlib") is None:
    message = "matplotlib is not installed; run: pip install matplotlib, or install the extra 'quant'"
    raise ModuleNotFoundError(message, name="matplotlib")
