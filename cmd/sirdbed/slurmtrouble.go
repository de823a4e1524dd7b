package main

import (
	"fmt"
	"time"
)

// A program of Slurm that failed is tried again every troubleEvery, for maxTrouble without a
// point that ends: controllers are updated and moved, and have limits of jobs that are reached
// for a time.
const (
	troubleEvery = 30 * time.Second
	maxTrouble   = time.Hour
)

// A trouble is how long one of Slurm's programs has failed. The zero value is none.
type trouble struct {
	since time.Time
	next  time.Time // when it is tried again
}

// try calls f unless that has failed a moment ago. It returns f's error if that is not to be
// waited for: nothing was ever submitted, or it has lasted too long.
func (t *trouble) try(b *slurmBatch, f func() error) error {
	if time.Now().Before(t.next) {
		return nil
	}
	err := f()
	switch {
	case err == nil:
		*t = trouble{}
		return nil
	case !b.submitted:
		return err
	case t.since.IsZero():
		t.since = time.Now()
		b.s.shown.say("%v; tried again every %v", err, troubleEvery)
	case time.Since(t.since) > maxTrouble:
		return fmt.Errorf("for %v: %w", maxTrouble, err)
	}
	t.next = time.Now().Add(troubleEvery)
	return nil
}

// waived begins the time of a trouble anew, since points end nevertheless.
func (t *trouble) waived() {
	if !t.since.IsZero() {
		t.since = time.Now()
	}
}
