package queue

import (
	"testing"
)

// What is put is had again, and only once.
func TestFreeUsesAgain(t *testing.T) {
	var f Free[int]
	a, b := f.Get(), f.Get()
	if a == b {
		t.Fatal("one object twice")
	}
	f.Put(a)
	if again, other := f.Get(), f.Get(); again != a || other == a || other == nil {
		t.Error("an object that was put is not used once more, or twice")
	}
	if n := testing.AllocsPerRun(100, func() { f.Put(b); b = f.Get() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
