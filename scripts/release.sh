#!/usr/bin/env bash
# Builds the static binaries of a release, from what is committed and nothing
# else, and their SHA256SUMS. The same commit and Go release make the same bytes.
#
#   scripts/release.sh VERSION OUTDIR [OS/ARCH...]
#
# VERSION is a tag (v1.2.3) that may exist already, and then has to be HEAD's.
# OUTDIR is made, and must be empty. Without OS/ARCH all platforms are built.
set -euo pipefail
cd "$(dirname "$0")/.."

platforms=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)

fail() {
  echo "release.sh: $*" >&2
  exit 2
}

[ $# -ge 2 ] || fail "usage: scripts/release.sh VERSION OUTDIR [OS/ARCH...]"
version=$1
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] ||
  fail "$version is no version like v1.2.3 or v1.2.3-rc.1"
mkdir -p "$2"
out=$(cd "$2" && pwd)
[ -z "$(ls -A "$out")" ] || fail "$2 is not empty"
shift 2
[ $# -eq 0 ] || platforms=("$@")

commit=$(git rev-parse HEAD)
if tagged=$(git rev-parse -q --verify "refs/tags/$version^{commit}") && [ "$tagged" != "$commit" ]; then
  fail "$version is tagged already, at another commit than HEAD"
fi

# A clone that has the tag: the go command puts it into the binaries as their
# version, with the commit and its time, and no changed file can slip in.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q --no-tags . "$work/sirdbed"
cd "$work/sirdbed"
git checkout -q "$commit"
git tag "$version"

for platform in "${platforms[@]}"; do
  os=${platform%/*} arch=${platform#*/}
  name=sirdbed-$version-$os-$arch
  [ "$os" != windows ] || name+=.exe
  GOFLAGS='' CGO_ENABLED=0 GOOS=$os GOARCH=$arch \
    go build -buildvcs=true -trimpath -ldflags='-s -w' -o "$out/$name" ./cmd/sirdbed
  echo "$name"
done

native=$out/sirdbed-$version-$(go env GOHOSTOS)-$(go env GOHOSTARCH)
if [ -x "$native" ]; then
  said=$("$native" version)
  [[ $said == "sirdbed $version ${commit:0:12} "* ]] || fail "the binary says \"$said\", not $version of ${commit:0:12}"
fi
cd "$out"
sha256sum sirdbed-* >SHA256SUMS
