#!/usr/bin/env bash
# Writes RESULTS.md, and its figures in scenarios/paper/figures, from the points of the
# paper's evaluation in scenarios/paper/points.
#
#   scripts/results.sh [--fewer] [TIME]
#
# First it runs missing points for TIME, such as 2h50m; without TIME, none. Points by other
# code count as missing: sirdbed results adopt takes over those that this code repeats. Fewer
# points than RESULTS.md has are written with --fewer alone.
set -euo pipefail
cd "$(dirname "$0")/.."

fewer=''
[ "${1:-}" != --fewer ] || { fewer=1 && shift; }
[ $# -le 1 ] || { echo "usage: scripts/results.sh [--fewer] [TIME]" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -o "$work/sirdbed" ./cmd/sirdbed
# No point takes as little as the shortest time, so that none begins.
"$work/sirdbed" reproduce all --points scenarios/paper/points --out "$work/out" --for "${1:-1ns}" >"$work/said"

# points_of prints how many points a page of results is of.
points_of() { sed -nE 's/.* ([0-9]+) of [0-9]+ points,.*/\1/p' "$1" | head -1; }
now=$(points_of "$work/out/RESULTS.md") before=$(points_of RESULTS.md)
if [ -z "$fewer" ] && [ "$now" -lt "${before:-0}" ]; then
  echo "there are $now points by this code, and RESULTS.md has $before: run the others, take them over with" \
    "sirdbed results adopt scenarios/paper/points, or say --fewer" >&2
  exit 1
fi
rm -rf scenarios/paper/figures
mkdir scenarios/paper/figures
cp "$work"/out/plots/*.svg scenarios/paper/figures
sed 's|](plots/|](scenarios/paper/figures/|' "$work/out/RESULTS.md" >RESULTS.md
grep -A 14 '^Scores' "$work/said"
