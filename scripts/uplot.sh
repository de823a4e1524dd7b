#!/usr/bin/env bash
# Fetches uPlot, which draws the figures of report.html, from the npm registry: the version
# below, by its hash, and of it the three files that are in capture/report/web/uplot.
#
#   scripts/uplot.sh            puts them there
#   scripts/uplot.sh --check    says whether those there are the same
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.6.32
sha512=KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==
files=(LICENSE dist/uPlot.iife.min.js dist/uPlot.min.css)

case ${1:-} in '' | --check) ;; *) sed -n 's/^#   //p' "$0" >&2 && exit 2 ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent "uplot@$version" >/dev/null)
archive=$work/uplot-$version.tgz
got=$(openssl dgst -sha512 -binary "$archive" | base64 -w 0)
[ "$got" = "$sha512" ] || { echo "uplot $version: its SHA-512 is $got, want $sha512" >&2; exit 1; }
tar -xzf "$archive" -C "$work"
for file in "${files[@]}"; do
  to=capture/report/web/uplot/${file#dist/}
  if [ "${1:-}" = --check ]; then
    cmp "$work/package/$file" "$to"
  else
    install -D -m 644 "$work/package/$file" "$to"
  fi
done
