#!/usr/bin/env bash
# Reads the sources without running them, as many checks at once as there are
# processors. Each prints what it found; the script fails if one found something.
# Tools come through the Go module proxy, of the versions below; shellcheck is a
# package of most distributions.
#
#   scripts/lint.sh [CHECK...]    these checks only (default: all)
#   scripts/lint.sh --list        their names
set -uo pipefail
cd "$(dirname "$0")/.." || exit

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
unparam=mvdan.cc/unparam@v0.0.0-20260823230713-2fa3d841b0c8
deadcode=golang.org/x/tools/cmd/deadcode@v0.52.0
misspell=github.com/golangci/misspell/cmd/misspell@v0.8.0
actionlint=github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

# silent runs a command that finds something when it prints something.
silent() {
  local found
  found=$("$@" 2>&1) && [ -z "$found" ] && return
  printf '%s\n' "$found"
  return 1
}

# sources lists the files that match the patterns, under version control or to be.
sources() {
  git ls-files --cached --others --exclude-standard -- "$@" |
    while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}

scripts() { sources '*.sh' .ci/run; }

check_format() { silent gofmt -l .; }

check_vet() { go vet ./...; }

# All checks: SA of mistakes, S and QF of simpler ways, ST of names and comments, U of what is unused.
check_staticcheck() { go run "$staticcheck" -checks all ./...; }

# Parameters and results that are always the same, or never used.
check_unparam() { go run "$unparam" ./...; }

# What the language and its library have a better word for by now. Those that
# are off would have two short texts joined by a builder, and take omitempty off
# fields that the schema has it for.
check_modernize() { silent go fix -stringsbuilder=false -omitzero=false -diff ./...; }

# Functions that no command reaches. Tests do not count: what they share has
# packages of its own.
# What package message has for programs of others need not be reached from here.
check_deadcode() {
  local found
  found=$(go run "$deadcode" ./cmd/... | sed -E '\|^sirdnode/message/[a-z]+\.go:|d') && [ -z "$found" ] && return
  printf '%s\n' "$found"
  return 1
}

# What else the command is built for, read from the sources: compiling the standard library
# three times would take minutes. What is unreachable does not matter here.
check_platforms() {
  local platform failed=0
  for platform in darwin/arm64 windows/amd64 linux/arm64; do
    go run -exec "env GOOS=${platform%/*} GOARCH=${platform#*/}" "$deadcode" ./cmd/sirdbed >/dev/null || failed=1
  done
  return $failed
}

# American, as the code's identifiers are. ECT is of ECN; a test misspells a word; Slurm has the state CANCELLED.
check_spelling() {
  sources '*.go' '*.md' '*.yaml' '*.yml' '*.sh' '*.html' '*.js' '*.css' \
    ':!capture/report/web/uplot' | xargs go run "$misspell" -error -locale US -i ECT,protocl,cancelled
}

check_tidy() { go mod tidy -diff; }

# At most 120 columns, a tab being four. Rows of Markdown tables cannot be wrapped, and what
# others wrote is as they wrote it, as is what is generated.
check_columns() {
  local long
  # shellcheck disable=SC2016 # they are perl's
  long=$(sources '*.go' '*.md' '*.yaml' '*.yml' '*.sh' '*.js' '*.css' .ci/run \
    ':!capture/report/web/uplot' ':!RESULTS.md' | xargs -d '\n' perl -CSD -ne '
      chomp;
      1 while s/\t/" " x (4 - $-[0] % 4)/e;
      print "$ARGV:$.\n" if length > 120 && !/^\|/;
      close ARGV if eof;')
  [ -z "$long" ] && return
  echo "$long"
  return 1
}

check_shell() { scripts | xargs shellcheck; }

check_workflows() { sources .github/workflows/ | xargs -r go run "$actionlint"; }

# check runs one, and says at once what it found: others run beside it.
check() {
  local began=$SECONDS verdict=ok found
  found=$("check_$1" 2>&1) || verdict=FAIL
  printf '%-5s %s (%ds)\n%s' "$verdict" "$1" $((SECONDS - began)) "${found:+$found$'\n'}"
  [ $verdict = ok ]
}

all="format vet staticcheck unparam modernize deadcode platforms spelling tidy columns shell workflows"
case ${1:-} in
  --list) exec tr ' ' '\n' <<<"$all" ;;
  --alone) # one check, for xargs below
    check "$2"
    exit ;;
esac
# shellcheck disable=SC2086 # names have no spaces
[ $# -gt 0 ] || set -- $all
for name; do
  case " $all " in *" $name "*) ;; *) echo "no check is called $name; these are: $all" >&2 && exit 2 ;; esac
done
# What several checks would each compile is compiled once.
[ $# = 1 ] || go build ./... || exit
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 scripts/lint.sh --alone ||
  { echo "found something: see FAIL above"; exit 1; }
