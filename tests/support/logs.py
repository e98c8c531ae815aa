"""What the service logs in a test's own process."""

from __future__ import annotations

import structlog


def log_plainly() -> None:
    """Log as structlog does by default, but tracebacks as Python does: drawn with every variable, one takes seconds."""
    structlog.reset_defaults()
    *before, _ = structlog.get_config()["processors"]
    drawn = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*before, drawn])
