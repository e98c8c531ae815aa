"""What `/metrics` says, to whoever has the token."""

from __future__ import annotations

from dataclasses import replace

from flask import Flask

from api.context import attach_resources, get_resources_of

TOKEN = "of-the-watchman"


def read_metrics(app: Flask) -> str:
    """Return the counters of an application that has no token of its own."""
    resources = get_resources_of(app)
    attach_resources(app, replace(resources, config=replace(resources.config, metrics_token=TOKEN)))
    try:
        answer = app.test_client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    finally:
        attach_resources(app, resources)
    assert answer.status_code == 200
    return answer.get_data(as_text=True)
