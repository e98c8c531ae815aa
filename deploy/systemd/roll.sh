#!/bin/sh
# roll.sh PORT...: restarts HTTP processes one after another behind nginx, without a failed request.
# Each is taken out of the upstream, given time to answer what it has, restarted, and put back once it is ready.
set -eu
upstream=${UPSTREAM:-/etc/nginx/checkout-upstream.conf}
reload=${RELOAD:-systemctl reload nginx}
restart=${RESTART:-systemctl restart}
drain_s=${DRAIN_S:-10}
out=

stop() {
	echo "$1" >&2
	exit 1
}

# Ports of the upstream's servers: all of them, or with " down" those that are out.
list_ports() {
	sed -n "s/^ *server 127\.0\.0\.1:\([0-9]*\)${1:-}[ ;].*/\1/p" "$upstream"
}

take_out() {
	out=$1
	sed -i "s/^\( *server 127\.0\.0\.1:$1\)\( down\)*\([ ;]\)/\1 down\3/" "$upstream"
	$reload
}

put_back() {
	sed -i "s/^\( *server 127\.0\.0\.1:$1\) down\([ ;]\)/\1\2/" "$upstream"
	out=
	$reload
}

is_ready() {
	curl --fail --silent --output /dev/null --max-time 5 "http://127.0.0.1:$1/readyz/api"
}

# The others of the upstream must take over, whether they are to be restarted or not.
check_others() {
	others=0
	for other in $(list_ports); do
		[ "$other" != "$1" ] || continue
		list_ports " down" | grep -qx "$other" && stop "Nothing was restarted any more: port $other is out of the upstream; roll it first."
		is_ready "$other" || stop "Nothing was restarted any more: port $other is not ready."
		others=$((others + 1))
	done
	[ "$others" -gt 0 ] || stop "Port $1 is the only one in $upstream: without it nobody answers."
}

# Whoever ends this while a port is out gets it back, if it is ready.
end() {
	[ -z "$out" ] || ! is_ready "$out" || put_back "$out"
}
trap end EXIT
trap 'exit 130' HUP INT TERM

# Two at once would each rely on the port that the other takes out.
exec 9>"$upstream.lock"
flock -n 9 || stop "Nothing was restarted: somebody else is rolling in $upstream."

for port in "$@"; do
	list_ports | grep -qx "$port" || stop "Port $port is not in $upstream; it has $(list_ports | tr '\n' ' ')."
done
for port in "$@"; do
	check_others "$port"
	take_out "$port"
	sleep "$drain_s"
	$restart "checkout-serve@$port"
	tries=240
	until is_ready "$port"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || stop "Port $port did not become ready; it is out of the upstream."
		sleep 0.25
	done
	put_back "$port"
done
