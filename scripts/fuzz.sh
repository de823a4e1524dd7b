#!/usr/bin/env bash
# Runs every fuzz target of the repository in turn, for the same time each. Targets
# are found, not listed.
#
#   scripts/fuzz.sh TIME [TARGET...]   TIME as go test -fuzztime takes it: 5s, 10m
#   scripts/fuzz.sh --list             the targets, PACKAGE/FUNCTION each
set -euo pipefail
cd "$(dirname "$0")/.."

# targets finds the packages by their sources, so that only those are built.
targets() {
  git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u | while read -r dir; do
    go test -list '^Fuzz' "./$dir" | grep '^Fuzz' | sed "s|^|$dir/|"
  done
}

case ${1:-} in
  --list) targets && exit ;;
  '' | -*) echo "usage: scripts/fuzz.sh TIME [TARGET...] | --list" >&2 && exit 2 ;;
esac
time=$1
shift
if [ $# -gt 0 ]; then
  list=$(printf '%s\n' "$@")
else
  list=$(targets)
fi
for target in $list; do
  echo "-- $target"
  # Without a limit, most of a short time goes into making inputs shorter.
  go test -run '^$' -fuzz "^${target##*/}\$" -fuzztime "$time" -fuzzminimizetime 10x "./${target%/*}"
done
