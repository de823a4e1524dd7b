package aimd

import "fmt"

// Idle describes what is left when no message is under way.
func (a *AIMD) Idle() error {
	for peer, f := range a.out {
		if f != nil && (f.queue.Len() > 0 || f.acked.Total() > 0) {
			return fmt.Errorf("%d messages to %d", f.queue.Len(), peer)
		}
	}
	if n := a.acks.Len(); n > 0 {
		return fmt.Errorf("%d ACKs wait", n)
	}
	return nil
}
