"""Encrypts the secrets that the database keeps.

AES-256-GCM from `cryptography`, not Fernet: what is encrypted is bound to its place (`purpose` is authenticated), so
that nobody who can write to the database moves one vendor's secret into another's row; and each ciphertext names its
key, so that a missing key can be named and rotating finds what is left. A random nonce of 96 bits is safe for 2^32
secrets under one key (NIST SP 800-38D, 8.3).
"""

from __future__ import annotations

import base64
import secrets
from functools import lru_cache
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from api.secrets.keys import (
    FILE_NAME,
    KEY_ID_LENGTH,
    FixedKeys,
    KeyFile,
    Keyring,
    SecretKeyFault,
    parse_keys,
)

NONCE_BYTES = 12
VERSION = "1:"
KEY_ID_FROM = len(VERSION) + 1
"""Where the key's id begins in a ciphertext, counted from 1 as SQL does; it has `KEY_ID_LENGTH` characters."""


class SecretBox:
    """Encrypts with the first key of a ring, and decrypts with whichever key it was encrypted with."""

    def __init__(self, keyring: Keyring) -> None:
        self.keyring = keyring

    def seal(self, text: str, purpose: str) -> str:
        """Encrypt.

        Parameters
        ----------
        purpose : str
            What and whose the text is; decrypting for another purpose fails.

        Raises
        ------
        SecretKeyFault
            If there is no key.
        """
        keys = self.keyring.read()
        if not keys:
            raise SecretKeyFault("There is no key to encrypt secrets with; start the service by its own commands")
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = AESGCM(keys[0].material).encrypt(nonce, text.encode(), purpose.encode())
        return f"{VERSION}{keys[0].id}:{base64.b64encode(nonce + sealed).decode()}"

    def open(self, ciphertext: str, purpose: str) -> str:
        """Decrypt.

        Raises
        ------
        SecretKeyFault
            If its key is missing, or the ciphertext was changed or made for another purpose.
        """
        key_id = ciphertext[KEY_ID_FROM - 1 :][:KEY_ID_LENGTH]
        key = next((key for key in self.keyring.read() if key.id == key_id), None)
        if key is None:
            raise SecretKeyFault(f"A secret is encrypted with the key {key_id}, which is missing")
        try:
            sealed = base64.b64decode(ciphertext.rpartition(":")[2])
            nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
            return AESGCM(key.material).decrypt(nonce, rest, purpose.encode()).decode()
        except (InvalidTag, ValueError):
            raise SecretKeyFault("A stored secret was changed, or is another's") from None


@lru_cache(maxsize=16)
def open_box(secret_keys: tuple[str, ...], data_dir: Path) -> SecretBox:
    """Return the box of an installation: with the keys of its settings, or else those of the file in its folder."""
    if secret_keys:
        return SecretBox(FixedKeys(parse_keys(secret_keys, "SECRET_KEYS")))
    return SecretBox(KeyFile(data_dir / FILE_NAME))
