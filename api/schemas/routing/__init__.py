"""Tokens, routes, quotes and the stream of routes.

May import `adapters`, `context`, `domain`, `routing_engine`, `schemas.base`, `schemas.errors`, `schemas.fields` and
`services`. Begin with `queries.py`.
"""
