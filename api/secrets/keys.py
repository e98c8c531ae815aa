"""The keys with which secrets are encrypted: from the setting SECRET_KEYS, or from a file in the data folder."""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from api.storage.private_files import is_open_to_others, make_private_folder, write_private_file

KEY_BYTES = 32
KEY_ID_LENGTH = 12
FILE_NAME = "secret.key"


class SecretKeyFault(ValueError):
    """A key is missing, malformed, or readable by others; the message says what to do and never holds the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretKey:
    """A key of AES-256; `id` tells it from others and gives nothing away."""

    id: str
    material: bytes = field(repr=False)


class Keyring(Protocol):
    """Where keys come from."""

    def read(self) -> tuple[SecretKey, ...]:
        """Return all keys, the one that encrypts first; none where there is no key yet."""
        ...


@dataclass(frozen=True, slots=True)
class FixedKeys:
    """The keys of the setting SECRET_KEYS."""

    _keys: tuple[SecretKey, ...]

    def read(self) -> tuple[SecretKey, ...]:
        """Return all keys, the one that encrypts first."""
        return self._keys


class KeyFile:
    """A file with one key in each line, the one that encrypts first; a process sees at once that it was changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # In one attribute, since threads read it: one's file with another's keys would be kept for good.
        self._read: tuple[tuple[int, int, int], tuple[SecretKey, ...]] | None = None

    def read(self) -> tuple[SecretKey, ...]:
        """Return all keys; none where there is no file.

        Raises
        ------
        SecretKeyFault
            If the file is damaged, or others may read it.
        """
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return ()
        if is_open_to_others(self.path):
            raise SecretKeyFault(f"Others may read {self.path}: run `chmod 600 {self.path}`, then rotate its key")
        state = (found.st_ino, found.st_mtime_ns, found.st_size)
        known = self._read
        if known is None or known[0] != state:
            known = state, parse_keys(self.path.read_text(encoding="ascii").split(), str(self.path))
            self._read = known
        return known[1]

    def make(self) -> None:
        """Write the first key, unless another process is faster."""
        make_private_folder(self.path.parent)
        write_private_file(self.path, f"{make_key()}\n", replace=False)

    def write(self, keys: Sequence[SecretKey]) -> None:
        """Replace the file's keys."""
        lines = (base64.b64encode(key.material).decode() for key in keys)
        write_private_file(self.path, "".join(f"{line}\n" for line in lines), replace=True)


def make_key() -> str:
    """Make a key, as it is written in the setting and in the file."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def parse_keys(texts: Sequence[str], source: str) -> tuple[SecretKey, ...]:
    """Read keys.

    Raises
    ------
    SecretKeyFault
        If there is none, or one is malformed; `source` names the setting or the file.
    """
    keys = tuple(_parse_key(text, source) for text in texts)
    if not keys:
        raise SecretKeyFault(f"{source} holds no key; {_REMEDY}")
    return keys


_REMEDY = "a key is 32 random bytes in base64, such as `openssl rand -base64 32` makes"


def _parse_key(text: str, source: str) -> SecretKey:
    try:
        material = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        material = b""
    if len(material) != KEY_BYTES:
        raise SecretKeyFault(f"{source} holds something that is no key: {_REMEDY}") from None
    digest = hashlib.sha256(b"checkout secret key id" + material).hexdigest()
    return SecretKey(id=digest[:KEY_ID_LENGTH], material=material)
