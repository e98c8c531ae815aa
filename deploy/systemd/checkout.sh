#!/bin/sh
# /usr/local/bin/checkout: a command of the operator, as the service's account and with the service's settings.
set -eu
# As in the units, what the file says goes before these.
export DATA_DIR=/var/lib/checkout XDG_CACHE_HOME=/var/cache/checkout HOME=/nonexistent
set -a
. /etc/checkout/checkout.env
set +a
cd /opt/checkout
exec runuser -u checkout -- /opt/checkout/.venv/bin/checkout "$@"
