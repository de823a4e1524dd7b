#!/usr/bin/env bash
# Measures what sirdbed costs. Everything is relative to a reference in the same
# run, or a median, since machines are noisy; run it on a machine with nothing else to
# do. Needs root or user namespaces; what is of the virtual engine needs its kernel
# ("sirdbed kernel build").
#
#   scripts/bench.sh [rounds]    rounds (default 5) of each comparison
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-5}

echo "SIRD over one unshaped veth against a bare raw-socket pump, same packet sizes: goodput, and packets with control:"
go test ./sirdnode/node -run '^$' -bench '^BenchmarkVeth$' -benchtime "${rounds}x" | grep -E '^Benchmark'

echo
echo "The protocol alone, packet by packet (allocations must be 0):"
go test ./sirdnode/sird -run '^$' -bench . -benchmem -count "$rounds" | grep -E '^Benchmark'

echo
echo "Fabrics of 144, 500 and 1,000 hosts, up and down, without host processes:"
go test ./emu/fabric -run '^$' -bench '^BenchmarkFabric$' -benchtime "${rounds}x" | grep -E '^Benchmark'

echo
echo "The model engine, for each packet and hop:"
go test ./emu/model -run '^$' -bench . -benchmem -count "$rounds" | grep -E '^Benchmark'

echo
echo "The virtual engine, growing fabrics at half load, by one guest and two, beside the model; and two runs at once:"
go test ./cmd/sirdbed -run '^$' -bench '^BenchmarkVirtual' -benchtime 1x -timeout 4h | grep -E '^Benchmark|SKIP'
