//go:build linux

package real

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// Of the processors those are kept awake that the run may use, whatever their numbers.
func TestProcessorsOfItsOwnAreKeptAwake(t *testing.T) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &all); err != nil {
		t.Fatal(err)
	}
	list := processors()
	if len(list) != all.Count() {
		t.Fatalf("of %d processors it has %v", all.Count(), list)
	}
	if len(list) < 2 {
		t.Skip("there is one processor only")
	}
	last := list[len(list)-1]
	var one unix.CPUSet
	one.Set(last)
	if err := unix.SchedSetaffinity(os.Getpid(), &one); err != nil {
		t.Fatal(err)
	}
	a := Means{Awake: true}.keepAwake()
	a.let()
	if err := unix.SchedSetaffinity(os.Getpid(), &all); err != nil {
		t.Fatal(err)
	}
	if want := []int{last}; !slices.Equal(a.processors, want) {
		t.Errorf("allowed %v, it keeps %v awake", want, a.processors)
	}
}
