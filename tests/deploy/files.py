"""Where the files are, and how a test gives them ports and folders of its own."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CERTIFICATE = ROOT / "tests" / "support" / "tls" / "hooks.test.pem"


def read(name: str) -> str:
    """Return a file of `deploy`."""
    return (DEPLOY / name).read_text(encoding="utf-8")


def replace_all(text: str, changes: dict[str, str]) -> str:
    """Replace what a test must not use, such as port 443; each has to be there."""
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


USER = "user root;" if os.geteuid() == 0 else ""
"""Others may not enter the folders of a test that root runs."""
NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_processes 2;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/checkout.conf;
}}
"""
"""What Debian has in /etc/nginx/nginx.conf, without its places."""


def write_nginx(folder: Path, plain: int, tls: int, ports: tuple[int, int]) -> Path:
    """Write nginx's files with these ports, two of them the service's; return the main one."""
    upstream = replace_all(read("nginx/checkout-upstream.conf"), {":8001": f":{ports[0]}", ":8002": f":{ports[1]}"})
    site = replace_all(
        read("nginx/checkout.conf"),
        {
            "/etc/nginx/": f"{folder}/",
            "listen 80;": f"listen 127.0.0.1:{plain};",
            "listen 443 ssl": f"listen 127.0.0.1:{tls} ssl",
            "    listen [::]:80;\n": "",
            "    listen [::]:443 ssl http2;\n": "",
            "/etc/letsencrypt/live/pay.example/fullchain.pem": str(CERTIFICATE),
            "/etc/letsencrypt/live/pay.example/privkey.pem": str(CERTIFICATE.with_suffix(".key")),
        },
    )
    (folder / "checkout-upstream.conf").write_text(upstream)
    (folder / "checkout.conf").write_text(site)
    (folder / "nginx.conf").write_text(USER + NGINX.format(folder=folder))
    return folder / "nginx.conf"
