"""When the certificate ends that customers are shown at `BASE_URL`, as this machine sees it."""

from __future__ import annotations

import socket
import ssl
from datetime import datetime
from urllib.parse import urlsplit

from cryptography import x509

HTTPS_PORT = 443


def read_end(base_url: str, timeout_s: float) -> datetime | None:
    """Return when the certificate of an address ends; None where it is plain http, or does not answer.

    It may have ended already, or be of an authority that only browsers know: whether it is trusted is not asked here.
    """
    place = urlsplit(base_url)
    if place.scheme != "https" or not place.hostname:
        return None
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((place.hostname, place.port or HTTPS_PORT), timeout_s) as plain,
            context.wrap_socket(plain, server_hostname=place.hostname) as secured,
        ):
            shown = secured.getpeercert(binary_form=True)
    except OSError:
        return None
    return None if shown is None else x509.load_der_x509_certificate(shown).not_valid_after_utc
