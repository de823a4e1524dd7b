//go:build linux

package real

import (
	"slices"
	"testing"
	"time"

	"sirdbed/emu"
	"sirdbed/sirdnode/node"
)

// The zero platform is this machine.
func TestPlatform(t *testing.T) {
	var here Platform
	if here.name() != emu.Real || here.rxFrames() != node.StallFrames || here.tick() <= 0 || here.align(123) != 123 {
		t.Errorf("this machine is %q, %d frames, tick %v, aligned %d", here.name(), here.rxFrames(), here.tick(),
			here.align(123))
	}
	there := Platform{Name: emu.Virtual, Machine: &Machine{CPUs: 3}, Tick: time.Second, RxFrames: 7, Align: time.Second}
	if there.name() != emu.Virtual || there.machine(2, Means{}).CPUs != 3 || there.tick() != time.Second ||
		there.rxFrames() != 7 {
		t.Errorf("%+v is not kept", there)
	}
	for at, want := range map[int64]int64{0: 0, 1: 1e9, 1e9: 1e9, 1e9 + 1: 2e9} {
		if got := there.align(at); got != want {
			t.Errorf("%d is aligned to %d, want %d", at, got, want)
		}
	}
}

// Of many hosts that start now and then one is reported.
func TestStartingHostsAreReported(t *testing.T) {
	var reported []int
	p := Platform{Starting: func(hosts int) { reported = append(reported, hosts) }}
	for n := range 2*startingEvery + 1 {
		p.starting(n + 1)
	}
	if want := []int{startingEvery, 2 * startingEvery}; !slices.Equal(reported, want) {
		t.Errorf("got %v, want %v", reported, want)
	}
	(&Platform{}).starting(startingEvery) // to nobody
}
