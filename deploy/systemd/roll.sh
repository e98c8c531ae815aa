#!/bin/sh
# roll.sh PORT...: restarts HTTP processes one after another behind nginx, without a failed request.
# Each is taken out of the upstream, given time to answer what it has, restarted, and put back once it is ready.
set -eu
upstream=${UPSTREAM:-/etc/nginx/checkout-upstream.conf}
reload=${RELOAD:-systemctl reload nginx}
restart=${RESTART:-systemctl restart}
drain_s=${DRAIN_S:-10}

mark() {
	sed -i "s/^\( *server 127\.0\.0\.1:$1\)\( down\)*;/\1$2;/" "$upstream"
	$reload
}

is_ready() {
	curl --fail --silent --output /dev/null --max-time 5 "http://127.0.0.1:$1/readyz/api"
}

for port in "$@"; do
	for other in "$@"; do
		is_ready "$other" || { echo "Nothing was restarted any more: port $other is not ready." >&2; exit 1; }
	done
	mark "$port" " down"
	sleep "$drain_s"
	$restart "checkout-serve@$port"
	tries=240
	until is_ready "$port"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { echo "Port $port did not become ready; it is out of the upstream." >&2; exit 1; }
		sleep 0.25
	done
	mark "$port" ""
done
