//go:build linux

package endpoint

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sirdbed/sirdnode/clock"
)

// Bounds of an endpoint's loop.
const (
	// lookEvery is how often an endpoint looks at what is no packet: interrupts and sessions.
	lookEvery = 20 * time.Millisecond
	// stuckTime is how long messages may be under way without any of them being through.
	stuckTime = 10 * time.Second
)

// run sends until all is done.
func (s *sender) run(ctx context.Context) error {
	progress, through := clock.Monotonic(), uint64(0)
	for {
		mono := clock.Monotonic()
		if mono >= s.tally.due() {
			if err := s.second(); err != nil {
				return err
			}
		}
		if err := s.lost(); err != nil || ctx.Err() != nil {
			return err
		}
		now, err := s.station.Turn(min(mono+lookEvery.Nanoseconds(), s.tally.due()))
		if err != nil {
			return fmt.Errorf("interface %s: %w", s.iface.Name, err)
		}
		if s.source.done(now) {
			return nil
		}
		if n := s.tally.all.Count(); n != through || len(s.source.underWay) == 0 {
			progress, through = mono, n
		}
		if mono-progress >= stuckTime.Nanoseconds() {
			return fmt.Errorf("nothing has come through for %v, with %d messages under way",
				stuckTime, len(s.source.underWay))
		}
	}
}

// lost returns why a peer is gone, if one is.
func (s *sender) lost() error {
	for i, c := range s.sessions {
		select {
		case <-c.Ended():
			if err := c.Err(); err != nil {
				return err
			}
			return fmt.Errorf("%v has ended the session", s.report.Peers[i].Addr)
		default:
		}
	}
	return nil
}

// second reports the second that has ended.
func (s *sender) second() error {
	t, err := totals(s.station, s.watch)
	if err != nil {
		return err
	}
	second := s.tally.second(t)
	second.UnderWay, second.Peers = len(s.source.underWay), len(s.sessions)
	if s.Each != nil {
		s.Each(second)
	}
	return nil
}

// finish ends the sessions and completes the report, after a run that ended with err.
func (s *sender) finish(err error) error {
	r := &s.report
	r.Time = time.Duration(clock.Monotonic() - s.tally.begun)
	for i, c := range s.sessions {
		counts, gone := c.Bye()
		r.Peers[i].Counts = counts
		if err == nil {
			err = gone
		}
	}
	var failed error
	r.Totals, failed = totals(s.station, s.watch)
	r.Latency, r.WakeUps = latencyOf(&s.tally.all), latencyOf(s.station.Lateness())
	r.Goodput = Goodput(r.Totals.Sent, r.Time)
	r.Failures = s.watch.reasons
	return errors.Join(err, failed)
}

// DamagedPayload returns how many packets had a payload that was not what was sent, here or
// at peers.
func (r *Report) DamagedPayload() int64 {
	n := r.Totals.Mismatches
	for i := range r.Peers {
		n += r.Peers[i].Counts.Mismatches
	}
	return n
}
