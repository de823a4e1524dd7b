package timer

import "testing"

func TestSleepLastsUntilItsTimeOrItsEnd(t *testing.T) {
	var s Sleep
	if got := s.WakeAt(); got != 0 {
		t.Errorf("the zero value wakes at %v, want 0: it is awake", got)
	}
	s.Until(70)
	if got := s.WakeAt(); got != 70 {
		t.Errorf("asleep until %v, want 70", got)
	}
	s.End()
	if got := s.WakeAt(); got != 0 {
		t.Errorf("after End it wakes at %v, want 0", got)
	}
}
