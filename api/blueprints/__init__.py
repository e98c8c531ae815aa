"""HTTP resources, one module each, and the list that mounts them.

A module makes a `Blueprint` named after its resource; a line in `mount` puts it into the application.

May import `assets`, `bodies`, `checkout_page`, `context`, `counting`, `domain`, `openapi`, `schemas`, `services`,
`storage` and `web`. Begin with `payment_links.py`.
"""

from __future__ import annotations

from flask import Flask

from api.blueprints import (
    api_keys,
    brand_files,
    branding,
    docs,
    events,
    exports,
    health,
    payment_links,
    payment_page,
    payments,
    quote_replays,
    quotes,
    refunds,
    routes,
    tokens,
    unmatched_transfers,
    webhooks,
)
from api.blueprints.base import Api
from api.counting.rate_limits import RateLimits


def mount(app: Flask, api: Api, limits: RateLimits) -> None:
    """Mount every resource; those of the API are described in the OpenAPI document and counted by `limits`."""
    app.register_blueprint(health.blueprint)
    app.register_blueprint(docs.blueprint)
    for blueprint in (routes.blueprint, quotes.blueprint):
        api.register_blueprint(blueprint)
        limits.protect(blueprint, routing=True)
    limits.protect_trials(routes.blueprint, routes.asks_for_trial)
    api.register_blueprint(quote_replays.blueprint)
    limits.protect(quote_replays.blueprint, routing=True, replaying=True)
    for resource in (
        *(payment_links, payments, refunds, unmatched_transfers, branding, tokens, webhooks, events, api_keys),
    ):
        api.register_blueprint(resource.blueprint)
        limits.protect(resource.blueprint)
    api.register_blueprint(exports.blueprint)
    limits.protect_export(exports.blueprint)
    app.register_blueprint(payment_page.blueprint)
    limits.protect_page(payment_page.blueprint, payment_page.COSTLY)
    app.register_blueprint(brand_files.blueprint)
    limits.protect_page_files(brand_files.blueprint)
