"""How templates are written out: without what only people who edit them need."""

from __future__ import annotations

import re

from flask import Flask
from jinja2.ext import Extension

_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


class _LeaveOutIndents(Extension):
    """Takes the spaces before the lines of a template away; what is put into it keeps its own."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        """Return a template's text as it is read."""
        return _INDENT.sub("", source)


def install(app: Flask) -> None:
    """Have the templates of `app` written out short."""
    app.jinja_env.trim_blocks = True
    app.jinja_env.add_extension(_LeaveOutIndents)
    app.jinja_env.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
