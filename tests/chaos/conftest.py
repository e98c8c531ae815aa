"""Databases for processes that are killed."""

from tests.api.conftest import make_database_url, postgres_server

__all__ = ["make_database_url", "postgres_server"]
