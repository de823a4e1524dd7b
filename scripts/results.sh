#!/usr/bin/env bash
# Writes RESULTS.md, and its figures in scenarios/paper/figures, from the points of the
# paper's evaluation in scenarios/paper/points.
#
#   scripts/results.sh [TIME]
#
# First it runs missing points for TIME, such as 2h50m; without TIME, none. Points by other
# code count as missing.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -le 1 ] || { echo "usage: scripts/results.sh [TIME]" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -o "$work/sirdbed" ./cmd/sirdbed
# No point takes as little as the shortest time, so that none begins.
"$work/sirdbed" reproduce all --points scenarios/paper/points --out "$work/out" --for "${1:-1ns}" >"$work/said"

rm -rf scenarios/paper/figures
mkdir scenarios/paper/figures
cp "$work"/out/plots/*.svg scenarios/paper/figures
sed 's|](plots/|](scenarios/paper/figures/|' "$work/out/RESULTS.md" >RESULTS.md
grep -A 14 '^Scores' "$work/said"
