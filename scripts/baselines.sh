#!/usr/bin/env bash
# Compares the six protocols at half load on the model, for workloads WKa, WKb and WKc
# (scenarios small-*), with both ways in which messages arrive (traffic/README, Arrivals),
# over several seeds, since a short run's p99 differs by a third between two of them.
# Each figure is the mean over seeds, with the least and the highest p99 beside it;
# slowdown is the paper's, and for dcPIM, as acked, that of its authors (baselines/dcpim,
# Published figures). Some minutes of one processor. Takes jq.
#
#   scripts/baselines.sh [seeds [DIRECTORY]]    seeds (default 5); DIRECTORY keeps the summaries
#
# SIRDBED names a binary to use in place of this tree's, SET options for each run
# ("--set dctcp.gain=0.0625"), SCENARIOS others than small-wka, small-wkb and small-wkc,
# VARIANTS some of the protocols ("xpass,homa"), ARRIVALS one way of the two. HOSTS=144
# takes the evaluation's fabric in place of 16 hosts, and ten times as long.
set -euo pipefail
cd "$(dirname "$0")/.."
seeds=${1:-5}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kept=${2:-$work/kept}
mkdir -p "$kept"
sirdbed=${SIRDBED:-$work/sirdbed}
[ -x "$sirdbed" ] || go build -trimpath -o "$sirdbed" ./cmd/sirdbed
read -ra set <<<"${SET:-}"
read -ra scenarios <<<"${SCENARIOS:-small-wka small-wkb small-wkc}"
read -ra ways <<<"${ARRIVALS:-poisson released}"
[ -z "${VARIANTS:-}" ] || set+=(--variant "$VARIANTS")
case ${HOSTS:-16} in
16) ;;
144) set+=(--set topology.leaves=9 --set topology.hosts_per_leaf=16 --set topology.spines=4) ;;
*) echo "HOSTS is $HOSTS: want 16 or 144" >&2 && exit 2 ;;
esac

# run makes one run: scenario, arrivals, seed. A bound that is not met is no reason to end.
run() {
  rm -rf "$work/result"
  "$sirdbed" run "$1" --engine model --set "traffic[0].arrivals=$2" --seed "$3" "${set[@]}" \
    --out "$work/result" --json 2>"$work/log" >"$kept/$1-$2-$3.json" || [ $? = 4 ] || cat "$work/log" >&2
}

# rows prints a line for each protocol, of the summaries of all seeds.
rows() {
  jq -rs --arg scenario "$1" --arg arrivals "$2" '
    def mean: add / length;
    def fixed($n): . * pow(10; $n) | round / pow(10; $n);
    [.[].variants[]] | group_by(.protocol)[] | map(.slowdown.paper.all.p99) as $p99 |
    [$scenario, $arrivals, .[0].protocol,
      (map(.slowdown.paper.all.p50) | mean | fixed(2)),
      ($p99 | mean | fixed(2)), ($p99 | min | fixed(2)), ($p99 | max | fixed(2)),
      (map(.slowdown.acked.all.p99) | if all then mean | fixed(2) else "-" end),
      (map(.queue_bytes.max) | mean / 1000 | round),
      (map(.queue_bytes.mean) | mean / 1000 | fixed(1)),
      (map(.goodput_gbps) | mean | fixed(1))] | @tsv' "$kept/$1-$2"-*.json
}

form='%-10s %-9s %-8s %6s %7s %7s %7s %7s %10s %8s %8s\n'
# shellcheck disable=SC2059 # the same form for all lines
printf "$form" scenario arrivals protocol p50 p99 least highest acked 'deepest KB' 'mean KB' Gbps
for scenario in "${scenarios[@]}"; do
  for arrivals in "${ways[@]}"; do
    for seed in $(seq "$seeds"); do run "$scenario" "$arrivals" "$seed"; done
    rows "$scenario" "$arrivals" | while IFS=$'\t' read -ra cells; do
      # shellcheck disable=SC2059
      printf "$form" "${cells[@]}"
    done
  done
done
