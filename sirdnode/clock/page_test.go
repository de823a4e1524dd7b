//go:build linux

package clock

import (
	"os"
	"testing"
)

// In a guest a reading takes no time at all; elsewhere there is no page.
func TestExactReadingTakesNoTime(t *testing.T) {
	if os.Getenv("SIRDBED_GUEST") == "" {
		if guestPage != nil {
			t.Fatal("a page of the guest's kernel on another one")
		}
		t.Skip("not in a guest")
	}
	if guestPage == nil {
		t.Fatal("the guest's kernel shows no clock")
	}
	first := Monotonic()
	for range 1000 {
		if now := Monotonic(); now != first {
			t.Fatalf("%d ns have passed", now-first)
		}
	}
	if now := nanotime(); now != first+1 {
		t.Errorf("a system call took %d ns, want 1", now-first)
	}
}
