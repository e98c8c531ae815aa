"""What Stargate's lanes and payments both encode; apart, because lanes load the compiler."""

ORDER = "(uint32,bytes32,uint256,uint256,bytes,bytes,bytes)"
"""Types of ``SendParam``."""
