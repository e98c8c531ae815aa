"""Which language a customer reads, and how numbers and dates are written where they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from babel import Locale, UnknownLocaleError
from flask import Request, Response
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from api.checkout_page.language.strings import DEFAULT, LANGUAGES, Strings, load

PARAMETER = "lang"
"""Of an address: a language that was chosen by hand."""
HEADER = "X-Page-Language"
"""What the page's scripts name, so that answers are in the language of their page."""
VARY = ("Accept-Language", "Cookie", HEADER)
COOKIE = "checkout_language"
COOKIE_PATH = "/payment"
COOKIE_LIFE_S = 365 * 86_400

MAX_HEADER = 500
MOST_TAGS = 8
"""Of what a browser prefers, more than people set: each that is unknown takes a millisecond or two to be sure of."""
MOST_KEPT = 2048
MOST_CHOICES = 512
MAX_SUBTAGS = 4
_TAG = re.compile("[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_HOMES = {"en": "en_150"}
"""The region whose numbers and dates a language has where a customer names none, if not its largest one."""
_SCRIPTS = frozenset({None, "Hans"})
"""Scripts that the texts are written in, where a locale names one."""


def choose_strings(request: Request) -> Strings:
    """Return the texts for whoever asks: as address or page say, else as chosen before, else as the browser prefers."""
    header = request.headers.get("Accept-Language", "")[:MAX_HEADER]
    chosen = (request.args.get(PARAMETER), request.headers.get(HEADER), request.cookies.get(COOKIE))
    return load(_choose_tag(header, *((tag or "")[: MAX_HEADER + 1] for tag in chosen)))


@lru_cache(MOST_CHOICES)
def _choose_tag(header: str, *chosen: str) -> str:
    """Return the locale for a header and what was chosen; browsers send few of them, and each of theirs often."""
    accepted = [tag for tag, quality in parse_accept_header(header, LanguageAccept) if quality > 0][:MOST_TAGS]
    return choose_tag(chosen, accepted)


def mark_language(request: Request, response: Response, *, keeps_choice: bool, is_secure: bool) -> None:
    """Say what the language of an answer that is kept depends on, and let the browser remember a choice made by hand.

    Parameters
    ----------
    keeps_choice : bool
        Whether the answer is a page; what its scripts ask for changes no choice.
    is_secure : bool
        Whether the browser may send the choice over encrypted connections only.
    """
    if not response.cache_control.no_store:
        response.vary.update(VARY)
    chosen = _find_locale(request.args.get(PARAMETER, "")) if keeps_choice else None
    if chosen is not None:
        response.set_cookie(
            COOKIE,
            chosen.language,
            max_age=COOKIE_LIFE_S,
            path=COOKIE_PATH,
            secure=is_secure,
            httponly=True,
            samesite="Lax",
        )


def choose_tag(chosen: Iterable[str | None], accepted: Iterable[str]) -> str:
    """Return the locale of the first tag that there are texts for.

    A language that was chosen without a region has that of the first accepted tag of the language: who prefers
    ``es-MX`` and chose ``es`` reads numbers as in Mexico.

    Parameters
    ----------
    chosen : iterable of str or None
        Tags that go before what the browser prefers; whatever they hold.
    accepted : iterable of str
        Tags that the browser prefers, the best first; whatever they hold.
    """
    preferred = [locale for locale in map(_find_locale, accepted) if locale is not None]
    for tag in chosen:
        locale = _find_locale(tag or "")
        if locale is not None:
            return _name_best(locale, preferred)
    return _name_best(preferred[0], preferred) if preferred else _name_best(Locale(DEFAULT), ())


def _name_best(locale: Locale, preferred: Iterable[Locale]) -> str:
    """Return a locale's tag, with a region if one is known."""
    if locale.territory:
        return str(locale)
    near = (each for each in preferred if each.language == locale.language and each.territory)
    return str(next(near, None) or _HOMES.get(locale.language, locale.language))


@lru_cache(MOST_KEPT)
def _find_locale(tag: str) -> Locale | None:
    """Return the locale that a tag means, as far as it is known; None if there are no texts in its language."""
    if len(tag) > MAX_HEADER or not _TAG.fullmatch(tag):
        return None
    found = next(_list_known(tag), None)
    if found is None or found.language not in LANGUAGES:
        return None
    return found if found.script in _SCRIPTS else Locale(found.language)


def _list_known(tag: str) -> Iterator[Locale]:
    """Yield the known locales that a tag and its beginnings mean, the most exact first."""
    subtags = tag.split("-")[:MAX_SUBTAGS]
    if subtags[0].lower() not in LANGUAGES:
        return
    for count in range(len(subtags), 0, -1):
        try:
            yield Locale.parse("_".join(subtags[:count]))
        except (UnknownLocaleError, ValueError):
            continue
