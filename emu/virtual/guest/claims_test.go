//go:build linux

package guest

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Guests that share a clock have a processor each, or none of them has one.
func TestClaimsAreAllOrNone(t *testing.T) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	more := ClaimProcessors(allowed.Count() + 1)
	defer more.Release()
	if more.Pinned() || more.of(0).cpu != -1 {
		t.Errorf("%d guests have processor %d, want none", allowed.Count()+1, more.of(0).cpu)
	}
	// Guests of other tests may have all.
	one := ClaimProcessors(1)
	defer one.Release()
	if cpu := one.of(0).cpu; one.Pinned() != (cpu >= 0) || one.Pinned() && !allowed.IsSet(cpu) {
		t.Errorf("one guest has processor %d (pinned: %v), want one that is allowed, or none", cpu, one.Pinned())
	}
	config := Config{Claims: one}
	if got, want := claim(&config).cpu, one.of(0).cpu; got != want {
		t.Errorf("a guest that has been given processor %d takes %d", want, got)
	}
}
