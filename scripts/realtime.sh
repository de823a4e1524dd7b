#!/usr/bin/env bash
# Measures what real time (dilation 1) carries on this machine: three senders of SIRD, 35 %
# of a link each, to one receiver in a rack of 4, with its usual BDP and a measured one,
# beside the model; and iperf3 through the fabric, of what MTU 1500 leaves of a link.
# Medians, in Gbps. Run it on a machine with nothing else to do. Takes iperf3, and root or
# user namespaces.
#
#   scripts/realtime.sh [rounds]    rounds (default 5) of each
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sirdbed=${SIRDBED:-$work/sirdbed}
[ -x "$sirdbed" ] || go build -trimpath -o "$sirdbed" ./cmd/sirdbed

median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# scenario writes one: name, rate of links, delay of hosts, size of messages, rate of a sender.
scenario() {
  cat >"$work/$1.yaml" <<END
name: $1
topology: {leaves: 1, hosts_per_leaf: 4, host_rate: $2, host_delay: $3, mtu: 1500B}
protocol: sird
traffic:
  - {name: bulk, pattern: fixed, from: [h1-1, h1-2, h1-3], to: [h1-4], size: $4, rate: $5}
warmup: 200ms
duration: 2s
drain: 200ms
END
}

# goodput runs a scenario and prints what h1-4 got.
goodput() {
  local name=$1
  shift
  rm -rf "$work/result"
  "$sirdbed" run "$work/$name.yaml" --out "$work/result" --json "$@" 2>"$work/log" >"$work/summary" || true
  grep -o '"h1-4": [0-9.]*' "$work/summary" | head -1 | cut -d' ' -f2 || cat "$work/log" >&2
}

# iperf runs iperf3 for two seconds through a fabric that is up, and prints what arrived.
iperf() {
  local server client
  "$sirdbed" exec h1-2 iperf3 -s -1 >/dev/null 2>&1 &
  server=$!
  sleep 0.5
  client=$("$sirdbed" exec h1-1 iperf3 -c h1-2 -t 2 -J)
  wait "$server"
  awk -F'[:,]' '/"sum_received"/ { r = 1 } r && /bits_per_second/ { printf "%.4f\n", $2 / 1e9; exit }' <<<"$client"
}

# repeat runs a command as often as rounds says.
repeat() { for _ in $(seq "$rounds"); do "$@"; done; }

scenario gigabit 1Gbps 1us 1MB 350Mbps
scenario fast-ethernet 100Mbps 20us 200KB 35Mbps
printf '%-15s %8s %8s %10s %8s\n' 'links' 'model' 'SIRD' 'measured' 'iperf3'
for name in gigabit fast-ethernet; do
  model=$(goodput "$name" --engine model)
  sird=$(repeat goodput "$name" --dilation 1 | median)
  measured=$(repeat goodput "$name" --dilation 1 --set sird.bdp=measured | median)
  "$sirdbed" up "$work/$name.yaml" >"$work/log" 2>&1 || cat "$work/log" >&2
  tcp=$(repeat iperf | median)
  "$sirdbed" down "$name" >"$work/log" 2>&1 || cat "$work/log" >&2
  printf '%-15s %8.3f %8.3f %10.3f %8.4f\n' "$name" "$model" "$sird" "$measured" "$tcp"
done
