"""What is served below ``/static``: every file under a name that has a hash of its content.

Scripts and stylesheets are joined with what they import, and made small: names that nobody outside can see get short.
All of it is made in memory at the first use, and compressed when it is asked for the first time: nothing is kept or
out of date.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import minify

from api.assets.encodings import IDENTITY, compress_well, is_compressible
from api.assets.modules import CannotJoin, join_script, join_stylesheet, list_imports
from api.assets.words import write_words

FOLDER = Path(__file__).parents[1] / "static"
SCRIPT = "payment/main.js"
"""The payment page's, which begins with what it says."""
HASH_DIGITS = 16
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".webp": "image/webp"}
"""Those that differ from machine to machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFile:
    """One file as it is served.

    Parameters
    ----------
    url_name : str
        Its path below ``/static``, with the hash.
    body : bytes
        Its bytes as they are.
    """

    url_name: str
    mimetype: str
    digest: str
    body: bytes

    @property
    def bodies(self) -> Mapping[str, bytes]:
        """Return its bytes by content encoding; as they are and, where that is shorter, compressed."""
        return {IDENTITY: self.body, **(_compress_once(self.body) if is_compressible(self.mimetype) else {})}

    @property
    def text(self) -> str:
        """Return the content, to be put into a page."""
        return self.body.decode()


class UnknownAsset(LookupError):
    """There is no such file, or not any more: its content has changed."""


@dataclass(frozen=True, slots=True)
class Assets:
    """All files, by their names in the tree and by those that they are served under."""

    by_name: Mapping[str, ServedFile]
    by_url_name: Mapping[str, ServedFile]

    def get_named(self, name: str) -> ServedFile:
        """Return the file that has this path below ``api/static``."""
        try:
            return self.by_name[name]
        except KeyError:
            raise UnknownAsset(f"{name} is not served; is it imported by another file?") from None


def read_assets(folder: Path) -> Assets:
    """Make all files of a folder ready; those that another one imports are served in that one only.

    Raises
    ------
    CannotJoin
        If a script or a stylesheet can't be joined with what it imports.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    imported = {other for path in paths if path.suffix in {".js", ".css"} for other in list_imports(path)}
    found = {path.relative_to(folder).as_posix(): path for path in paths if path not in imported}
    by_name = {name: _make_asset(name, _read_small(path)) for name, path in found.items()}
    return Assets(by_name, {asset.url_name: asset for asset in by_name.values()})


@cache
def load_assets() -> Assets:
    """Return the files of the pages, made ready once per process; their script has the texts of a language in it."""
    files = dict(read_assets(FOLDER).by_name)
    script = files.pop(SCRIPT).body
    for language, words in write_words():
        name = SCRIPT.replace(".", f"-{language}.")
        files[name] = _make_asset(name, words.encode() + script)
    return Assets(files, {each.url_name: each for each in files.values()})


_compress_once = cache(compress_well)


def _make_asset(name: str, body: bytes) -> ServedFile:
    suffix = Path(name).suffix
    mimetype = _TYPES.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    digest = sha256(body).hexdigest()[:HASH_DIGITS]
    stem = name.removesuffix(suffix)
    return ServedFile(url_name=f"{stem}.{digest}{suffix}", mimetype=mimetype, digest=digest, body=body)


def _read_small(path: Path) -> bytes:
    match path.suffix:
        case ".js":
            text = join_script(path)
        case ".css":
            text = join_stylesheet(path)
        case ".svg":
            text = path.read_text(encoding="utf-8")
        case _:
            return path.read_bytes()
    try:
        small: str = minify.string(_TYPES[path.suffix], text)
    except minify.MinifyError as error:
        raise CannotJoin(f"{path.name}: {error}") from error
    return small.encode()
