#!/usr/bin/env bash
# What takes too long for CI: thousands of random runs, millions of inputs for
# each fuzz target, soaks. A night's work, in steps that each have a limit. A step that
# passed is not run again for the same sources, so a run that was stopped goes on
# where it was.
#
#   scripts/long.sh                 all steps that have not passed yet
#   scripts/long.sh --list          the steps, and what has passed
#   scripts/long.sh --from STEP     this one and those after it
#   scripts/long.sh --only PATTERN  those of a name, such as 'fuzz:*'; passed or not
#   scripts/long.sh --probe         each step for a moment, remembering nothing: CI
#
# Steps of the engines need root or user namespaces, and virtual's its kernel.
# SIRDBED_LONG_SCALE=0.1 makes a tenth of the runs, seeds and time.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
  sed -n 's/^#   //p' scripts/long.sh >&2
  exit 2
}

mode=all from='' only='*'
case ${1:-} in
  '') ;;
  --probe | --list | --step) mode=${1#--} ;;
  --from) from=${2:?} ;;
  --only) only=${2:?} ;;
  *) usage ;;
esac

# scaled scales a number of runs or seconds, to at least 1.
scaled() { awk -v n="$1" -v s="${SIRDBED_LONG_SCALE:-1}" 'BEGIN { n *= s; printf "%d", n < 1 ? 1 : n }'; }

# How much of each; for a probe the least that shows that the step still works. leaves are
# those of the scenario thousand, fabric the hosts of BenchmarkFabric, of fuzz targets one in
# every is run, raced are packages, known the seeds of StabilityOfWhatIsKnown and tied those
# of GuestsDiffer, which have fewer without any.
if [ -n "${SIRDBED_LONG_PROBE:-}" ] || [ "$mode" = probe ]; then
  GOFLAGS="$(go env GOFLAGS) -vet=off" # lint vets
  export SIRDBED_LONG_PROBE=1 GOFLAGS
  seeds=5 fuzzed=5000 rounds=1 tests='^$' packets=2000 truth=2 leaves=2 fabric=144 every=6 raced=./emu/thread
  mutated='' kills='' soaked='' tied='' known='' # of tests that are only looked for, see tested
else
  seeds=$(scaled 20000) fuzzed=$(scaled 6000000) rounds=$(scaled 40) tests=. known=$(scaled 200) raced=./...
  packets=$(scaled 10000000) mutated=$(scaled 1000) kills=$(scaled 200) soaked=$(scaled 3600) truth=$(scaled 100)
  tied=$(scaled 10) leaves=40 fabric=1000 every=1
fi

# What passed, by what was run: the commit, and what has been changed since.
sources=$({ git rev-parse HEAD && git diff HEAD; } | sha256sum | cut -c1-16)
state=${XDG_CACHE_HOME:-$HOME/.cache}/sirdbed/long/$sources
passed() { grep -qxF "$1" "$state/passed" 2>/dev/null; }

# seeded lists the packages whose random runs are as many as SIRDBED_SEEDS says.
seeded() { git grep -l 'ExactlyOnceUnderFaults(t, ' -- '*_test.go' | xargs -n1 dirname | sort -u; }

# hostile lists the packages whose protocols get as many packets as SIRDBED_HOSTILE says.
hostile() { git grep -l 'HostilePackets(t, ' -- '*_test.go' | xargs -n1 dirname | sort -u; }

steps() {
  seeded | sed 's/^/seeds:/'
  # Targets are alike; of all of them tests run the seeds.
  scripts/fuzz.sh --list | awk -v every="$every" 'NR % every == 0 { print "fuzz:" $0 }'
  hostile | sed 's/^/hostile:/'
  echo mutated:results
  printf '%s\n' large:virtual large:real
  printf '%s\n' soak:model soak:real soak:virtual soak:kills soak:hour soak:tests truth:real ties:virtual stability \
    race release:platforms
}

# How long a step may take, in seconds. Its tests have a little less, so that they say
# themselves where they were.
limit=14400

# exits runs a command that may exit with one of some codes.
exits() {
  local codes=" $1 " code=0
  shift
  "$@" || code=$?
  [[ $codes == *" $code "* ]] || { echo "exit code $code of: $*" >&2; return 1; }
}

# tested runs tests of the command by a pattern. CI runs each of them as it is; a probe sees
# that there are such.
tested() {
  if [ -n "${SIRDBED_LONG_PROBE:-}" ]; then
    go test -list "$1" ./cmd/sirdbed | grep '^Test'
  else
    go test -v -count 1 -timeout 235m -run "$1" ./cmd/sirdbed
  fi
}

step() {
  local name=${1#*:}
  case $1 in
    seeds:*) SIRDBED_SEEDS=$seeds go test -count 1 -timeout 235m -run ExactlyOnce "./$name" ;;
    hostile:*) SIRDBED_HOSTILE=$packets go test -count 1 -timeout 235m -run HostilePackets "./$name" ;;
    mutated:*) SIRDBED_MUTATED=$mutated tested '^TestMutatedResults$' ;;
    stability) # what is known to be stable and not, on three workloads
      SIRDBED_SEEDS=$known tested '^TestStabilityOfWhatIsKnown$' ;;
    fuzz:*) scripts/fuzz.sh "$fuzzed" "$name" ;;
    soak:tests) # those that flicker
      go test -p 1 -count "$rounds" -timeout 235m -run "$tests" ./emu/sandbox/... ./emu/fabric/... ./sirdnode/... ;;
    race) # all packages; CI has those that start goroutines
      CGO_ENABLED=1 go test -p 1 -timeout 235m -race -run "$tests" "$raced" ;;
    soak:kills) # of runs at random moments, whichever process; none may leave anything
      SIRDBED_KILLS=$kills tested '^TestKilledRuns(LeaveNothing|GiveDevicesBack)$' ;;
    soak:hour) # runs in turn, whose descriptors, threads and memory stay flat
      SIRDBED_SOAK=${soaked}s tested '^TestSoak$' ;;
    ties:virtual) # several guests against one, whose messages are shifted by some ns
      SIRDBED_TIES=$tied tested '^TestGuestsDiffer' ;;
    large:real) # the fabric of 1,000 hosts on this machine's kernel
      go test -count 1 -timeout 235m ./emu/fabric -run '^$' -benchtime 1x \
        -bench "^BenchmarkFabric/hosts=$fabric/plain" ;;
    truth:real) # verdicts against what the model says, half of the runs disturbed
      SIRDBED_TRUTH=$truth go test -v -count 1 -timeout 235m -run '^TestVerdictAgainstTheModel$' ./cmd/sirdbed ;;
    soak:* | large:* | release:*)
      results=$(mktemp -d)
      trap 'rm -rf "$results"' EXIT
      CGO_ENABLED=0 go build -o "$results/bin/" ./cmd/...
      "${1%%:*}_$name" "$results" ;;
    *) echo "no step is called $1" >&2; return 2 ;;
  esac
}

# On the model other seeds may miss a bound (4), but no run may fail or be INVALID.
soak_model() {
  local seed
  for seed in $(seq "$rounds"); do
    for scenario in quickstart incast outcast; do
      exits '0 4' "$1/bin/sirdbed" run --engine model --seed "$seed" --out "$1/run" $scenario >/dev/null
      rm -r "$1/run"
    done
  done
}

# A machine may be too noisy for the verdict (3) or a bound (4), but nothing may
# fail or stay behind.
soak_real() {
  local before after seed
  before=$(lsns -rno NS -t net | wc -l)
  for seed in $(seq "$rounds"); do
    exits '0 3 4' "$1/bin/sirdbed" run --engine real --seed "$seed" --out "$1/run" quickstart >/dev/null
    rm -r "$1/run"
  done
  after=$(lsns -rno NS -t net | wc -l)
  [ "$before" = "$after" ] || { echo "$before network namespaces before, $after after" >&2; return 1; }
}

# 1,000 hosts in guests, by one and by two.
large_virtual() {
  local guests
  for guests in 1 2; do
    exits '0 4' "$1/bin/sirdbed" run --engine virtual --guests $guests --out "$1/run" --set "topology.leaves=$leaves" \
      --set warmup=0us --set duration=50us --set drain=20us thousand >/dev/null
    rm -r "$1/run"
  done
}

# On virtual the same run has the same outcome every time.
soak_virtual() {
  local digests
  for _ in $(seq $((rounds + 1))); do
    "$1/bin/sirdbed" run --engine virtual --out "$1/run" quickstart >/dev/null
    sed -n '0,/"digest"/s/.*"digest": "\(.*\)".*/\1/p' "$1/run/summary.json" >>"$1/digests"
    rm -r "$1/run"
  done
  digests=$(sort -u "$1/digests" | wc -l)
  [ "$digests" = 1 ] || { echo "$digests outcomes of $((rounds + 1)) runs" >&2; return 1; }
}

# The binaries of all platforms, after go vet of what is compiled elsewhere than on Linux. A
# probe has this platform's.
release_platforms() {
  local platforms=()
  if [ -n "${SIRDBED_LONG_PROBE:-}" ]; then
    platforms=("$(go env GOHOSTOS)/$(go env GOHOSTARCH)")
  else
    GOOS=darwin vetted
    GOOS=windows vetted
  fi
  scripts/release.sh v0.0.0-long "$1/release" "${platforms[@]}"
}

vetted() {
  local packages
  packages=$(go list -deps ./cmd/sirdbed | grep '^sirdbed')
  # shellcheck disable=SC2086 # names of packages have no spaces
  go vet $packages
}

case $mode in
  step) # one step, for the run below, which ends it when its time is over
    step "${2:?}"
    exit ;;
  list)
    for name in $(steps); do
      if passed "$name"; then echo "passed  $name"; else echo "        $name"; fi
    done
    exit ;;
esac

mkdir -p "$state"
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; exit 130' INT TERM
failed='' found=''
for name in $(steps); do
  [ "$name" != "$from" ] || from=''
  # shellcheck disable=SC2053 # a pattern
  if [ -n "$from" ] || [[ $name != $only ]]; then continue; fi
  found=1
  if [ "$mode" = all ] && [ "$only" = '*' ] && passed "$name"; then continue; fi
  log=$state/${name//[:\/]/-}.log
  began=$SECONDS
  timeout --kill-after 30 $limit scripts/long.sh --step "$name" >"$log" 2>&1 &
  pid=$!
  if wait "$pid"; then
    echo "ok    $name ($((SECONDS - began))s)"
    [ -n "${SIRDBED_LONG_PROBE:-}" ] || passed "$name" || echo "$name" >>"$state/passed"
  else
    failed+=" $name"
    echo "FAIL  $name ($((SECONDS - began))s), see $log"
    tail -n 20 "$log"
  fi
  pid=
done
[ -z "$from" ] || { echo "no step is called $from" >&2; exit 2; }
[ -n "$found" ] || { echo "no step is called $only: see --list" >&2; exit 2; }
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
