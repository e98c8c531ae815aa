"""How templates are written out: put together before the first request, without what only people who edit them need.

Of a page, the texts of each language stand in a template of their own, which is made from the one that people edit when
it is first asked for. What is left to do for a request is what differs from order to order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from flask import Flask, render_template
from jinja2 import BaseLoader, Environment, TemplateNotFound
from markupsafe import escape

from api.checkout_page.language.strings import LANGUAGES, Strings, load

_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_INCLUDE = re.compile(r'\{% include "([^"]+)" %\}\n?')
_EXTENDS = re.compile(r'(\{% extends ")([^"]+" %\})')
_TEXT = re.compile(r"\{\{ t\.(\w+)(?:\.(\w+))? \}\}")
_TAG = re.compile(r"\{[{%#]")


class _ShortTemplates(BaseLoader):
    """Finds templates without the spaces before their lines; what is put into them keeps its own.

    ``de/payment.html`` is ``payment.html`` with the German texts, and what it includes, written into it.

    Parameters
    ----------
    files : BaseLoader
        Finds the templates that people edit.
    """

    def __init__(self, files: BaseLoader) -> None:
        self._files = files

    def get_source(self, environment: Environment, template: str) -> tuple[str, str | None, Callable[[], bool] | None]:
        """Return a template's text, the file that it is from, and how to ask whether that has changed."""
        language, _, name = template.partition("/")
        if language not in LANGUAGES:
            return self._read(environment, template), None, None
        texts = load(language)

        def put_together(name: str) -> str:
            source = self._read(environment, name).removesuffix("\n")
            return _INCLUDE.sub(lambda found: put_together(found[1]), source)

        whole = _EXTENDS.sub(rf"\g<1>{language}/\g<2>", put_together(name))
        return _TEXT.sub(partial(_write_text, texts), whole), None, None

    def _read(self, environment: Environment, name: str) -> str:
        return _INDENT.sub("", self._files.get_source(environment, name)[0])


def install(app: Flask) -> None:
    """Have the templates of `app` written out short, and in each language."""
    app.jinja_env.trim_blocks = True
    app.jinja_env.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    files = app.jinja_env.loader
    if files is None:
        raise TemplateNotFound(None, "the application has no templates")
    app.jinja_env.loader = _ShortTemplates(files)


def render(name: str, strings: Strings, **values: object) -> str:
    """Fill in a template in a language."""
    return render_template(f"{strings.locale.language}/{name}", t=strings, **values)


def _write_text(texts: Strings, found: re.Match[str]) -> str:
    """Return a text as it stands on the page; what is no text stays to be filled in."""
    value = getattr(texts, found[1])
    if found[2]:
        value = value[found[2]]
    if _TAG.search(value):
        raise ValueError(f"{found[0]}: the {texts.name} text looks like a part of a template: {value}")
    return str(escape(value)) if found[1] != "tag" else found[0]
