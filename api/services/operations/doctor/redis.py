"""Whether Redis answers."""

from __future__ import annotations

from collections.abc import Iterator

from api.services.operations.doctor.findings import Finding, blame, praise, warn
from api.services.operations.redis_health import ask_redis
from api.services.resources import Resources

REDIS = "redis"


def check_redis(resources: Resources) -> Iterator[Finding]:
    """Ask Redis, where the settings name one."""
    fault = ask_redis(resources.config)
    if fault is None:
        return
    remedy = "start it, or correct REDIS_URL; the service takes it up again by itself"
    if not fault:
        yield praise(REDIS, "answers")
    elif resources.config.market.adapters:
        message = f"does not answer ({fault}): rates reach no HTTP process, and limits are counted by each machine"
        yield blame(REDIS, message, remedy)
    else:
        yield warn(REDIS, f"does not answer ({fault}): limits are counted by each machine for itself", remedy)
