"""Whether Redis answers, where the service has one: without it limits and rates go on, each machine by itself."""

from __future__ import annotations

from api.config import Config

PATIENCE_S = 1.0


def ask_redis(config: Config) -> str | None:
    """Ask Redis for a sign of life; return what stood against it, empty if nothing did, and None where there is none.

    The address is not said: it may hold a password.
    """
    if config.redis_url is None:
        return None
    from redis import Redis  # who has none need not load it
    from redis.backoff import NoBackoff
    from redis.exceptions import RedisError
    from redis.retry import Retry

    client = Redis.from_url(
        config.redis_url.removeprefix("redis+"),  # how the rate limits spell a socket's address
        socket_connect_timeout=PATIENCE_S,
        socket_timeout=PATIENCE_S,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        client.ping()
    except (RedisError, OSError, ValueError) as error:
        return type(error).__name__
    finally:
        client.close()
    return ""
