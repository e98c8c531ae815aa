"""Every setting that the environment can have, declared once: its default, what it means, and whether it is secret.

`api.config` reads no variable that is not here; `docs/settings.md` and `checkout settings` are written from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Group(StrEnum):
    """What a setting is about."""

    PLACE = "Where the service is"
    DATA = "Data"
    CHAINS = "Chains and rates"
    MONEY = "Money"
    SECRETS = "Secrets"
    LIMITS = "Limits"
    WATCHING = "Watching it"
    COMMANDS = "Commands of an integrator"
    ENGINE = "The engine"


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable.

    Parameters
    ----------
    name : str
        The variable.
    group : Group
        What it is about.
    meaning : str
        For the operator, in Markdown.
    default : str
        What counts without it, as the operator would write it; empty where there is none.
    otherwise : str
        What happens without it, in Markdown, where `default` is empty.
    is_secret : bool
        Whether nobody else may see its value.
    """

    name: str
    group: Group
    meaning: str
    default: str = ""
    otherwise: str = ""
    is_secret: bool = False


_DECLARED = (
    Setting("HOST", Group.PLACE, "Address to listen on. A proxy on the same machine reaches the default", "127.0.0.1"),
    Setting("PORT", Group.PLACE, "Port to listen on, 1 to 65535", "8000"),
    Setting(
        "BASE_URL", Group.PLACE, "Public address: payment URLs begin with it", otherwise="`http://127.0.0.1:$PORT`"
    ),
    Setting(
        "FORWARDED_ALLOW_IPS",
        Group.PLACE,
        "Addresses or networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed, with commas "
        "between. Without it all customers behind a proxy count as one for the rate limits. Never `*` where anybody "
        "but the proxy can connect",
        otherwise="none is believed",
    ),
    Setting("WEB_THREADS", Group.PLACE, "Threads of each HTTP process", "16"),
    Setting(
        "WEB_WORKERS",
        Group.PLACE,
        "HTTP processes that share the port and the limits",
        otherwise="one for each processor, 4 at most; one alone where it reads live rates without `REDIS_URL`",
    ),
    Setting(
        "DATA_DIR",
        Group.DATA,
        "Folder of the service's own for the SQLite file and `secret.key`; it gets mode 0700",
        ".data",
    ),
    Setting(
        "DATABASE_URL",
        Group.DATA,
        "`postgresql://user:password@host/name`, needed for more than one machine, or `sqlite:////path/file.db`",
        otherwise="`checkout.db` in `DATA_DIR`",
        is_secret=True,
    ),
    Setting(
        "DATABASE_POOLED",
        Group.DATA,
        "Whether a pooler in transaction mode, such as pgbouncer, stands before PostgreSQL. No statement is prepared "
        "then, and time limits are set in each transaction instead of once for a connection",
        "false",
    ),
    Setting(
        "REDIS_URL",
        Group.DATA,
        "`redis://…`, where processes share rate limits and live rates",
        otherwise="processes of one machine count in `DATA_DIR`, and each reads live rates by itself",
        is_secret=True,
    ),
    Setting(
        "KEEP_EVENTS_DAYS",
        Group.DATA,
        "How long `checkout db archive` leaves events in the database, with their deliveries and attempts; at least 30",
        "400",
    ),
    Setting(
        "RPC_URLS",
        Group.CHAINS,
        "Endpoints by chain, `1=https://a…,https://b…;8453=https://…`, for live orders and live rates. Give each chain "
        "two of different operators: [settlement.md](settlement.md)",
        otherwise="no live order can be paid",
        is_secret=True,
    ),
    Setting(
        "TEST_RPC_URLS",
        Group.CHAINS,
        "The same for test orders",
        otherwise="test orders are paid on the simulated ledger",
        is_secret=True,
    ),
    Setting(
        "ADAPTERS",
        Group.CHAINS,
        "Live sources of rates, such as `chain,gas,across`: [live-rates.md](live-rates.md)",
        otherwise="the sandbox",
    ),
    Setting("MARKET_FILE", Group.CHAINS, "A market file to route over; excludes `ADAPTERS`", otherwise="the sandbox"),
    Setting(
        "CHAINS_FILE",
        Group.CHAINS,
        "Chains of your own: [adding-a-chain.md](adding-a-chain.md)",
        otherwise="the five that are known",
    ),
    Setting(
        "ADAPTER_OPTIONS",
        Group.CHAINS,
        "Options of adapters, `across.url=https://…;canonical.l1_gas_gwei=3`",
        otherwise="each adapter's own",
        is_secret=True,
    ),
    Setting(
        "SOURCE_INTERVALS",
        Group.CHAINS,
        "Seconds between two readings, `across=30;chain@1=12`",
        otherwise="each adapter's own",
    ),
    Setting(
        "SOURCE_MAX_AGES",
        Group.CHAINS,
        "Seconds after which rates are left out, `across=120`",
        otherwise="each adapter's own",
    ),
    Setting(
        "CONFIRMATIONS",
        Group.MONEY,
        "Blocks that a payment waits for, by dollars and chain; above the last step until the chain calls it final",
        otherwise="`*:100=1,1000=6;1:100=2,1000=6`",
    ),
    Setting(
        "DOUBLE_CHECK_ABOVE",
        Group.MONEY,
        "Dollars above which two things must speak for a payment: [settlement.md](settlement.md#settings)",
        "1000",
    ),
    Setting(
        "VALUE_OF_TIME",
        Group.MONEY,
        "Dollars that a minute of waiting is worth to a customer: the page offers the way to pay that costs least with "
        "it first. Routes and quotes of the API are the cheapest unless `order` says otherwise",
        "0.25",
    ),
    Setting(
        "SCREENING",
        Group.MONEY,
        "Entry point in `checkout.screening` that checks payers' and merchants' addresses",
        otherwise="nobody is checked",
    ),
    Setting(
        "SECRET_KEYS",
        Group.SECRETS,
        "Keys that encrypt the secrets in the database, with commas between, each 32 random bytes in base64. The first "
        "encrypts, all decrypt: [secrets.md](secrets.md)",
        otherwise="`secret.key` in `DATA_DIR`",
        is_secret=True,
    ),
    Setting("RATE_LIMIT_KEY", Group.LIMITS, "Requests a minute for each API key", "300"),
    Setting("RATE_LIMIT_ROUTING", Group.LIMITS, "Requests a minute for routes and quotes, for each caller", "100"),
    Setting("RATE_LIMIT_KEYLESS", Group.LIMITS, "Requests a minute without a key, for each address", "50"),
    Setting(
        "RATE_LIMIT_PAGE",
        Group.LIMITS,
        "Requests a minute to payment pages and their files, for each address, behind which there may be a whole "
        "office; a fifth of it for each order, and a fifth for looking for ways to pay",
        "1500",
    ),
    Setting(
        "ALLOW_LOCAL_WEBHOOKS",
        Group.LIMITS,
        "Whether webhooks of the test environment may go to this machine and to private addresses; `checkout up` sets "
        "it. Never where vendors are strangers",
        "false",
    ),
    Setting(
        "METRICS_TOKEN",
        Group.WATCHING,
        "Bearer token that `/metrics` asks for",
        otherwise="`/metrics` is closed to everybody",
        is_secret=True,
    ),
    Setting(
        "LOG_LEVEL",
        Group.WATCHING,
        "`DEBUG`, `INFO`, `WARNING` or `ERROR`; `checkout up` takes `WARNING`. The log is JSON lines on standard error",
        "INFO",
    ),
    Setting(
        "CHECKOUT_URL",
        Group.COMMANDS,
        "The service that `checkout orders`, `links` and `webhooks` ask",
        "http://127.0.0.1:8000",
    ),
    Setting(
        "CHECKOUT_API_KEY",
        Group.COMMANDS,
        "The API key with which they ask",
        otherwise="they ask for `--key`",
        is_secret=True,
    ),
    Setting(
        "NUMBA_CACHE_DIR",
        Group.ENGINE,
        "Where compiled kernels are kept, of one version only: empty it at each upgrade. `XDG_CACHE_HOME` keeps "
        "versions apart",
        otherwise="beside the kernels; in `XDG_CACHE_HOME` where the tree is read-only",
    ),
    Setting("XDG_CACHE_HOME", Group.ENGINE, "Folder of caches", "~/.cache"),
    Setting(
        "ROUTING_ENGINE_QUIET",
        Group.ENGINE,
        "Anything but nothing: compilations are not told of on standard error",
        otherwise="they are told of",
    ),
)

SETTINGS = {setting.name: setting for setting in _DECLARED}
"""By name, in the order in which a reader meets them."""
