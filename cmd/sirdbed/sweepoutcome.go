package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"sirdbed/capture/points"
)

// giveUp notes that there is no room for a job's run or point, and why. No other begins: it would
// be run for nothing.
func (s *sweeper) giveUp(i int, err error) {
	s.mu.Lock()
	first := s.noPlace == nil
	if first {
		s.noPlace = err
	}
	s.mu.Unlock()
	if first {
		s.shown.say("%s has no place, and no other point begins: %v", s.jobs[i].Name(), err)
	}
	s.shown.leave(i)
}

// gaveUp reports whether there was no room for a point.
func (s *sweeper) gaveUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.noPlace != nil
}

// missingPoints counts the jobs without a point.
func (s *sweeper) missingPoints() (n int) {
	for i, p := range s.found {
		if p == nil && !s.without[i] {
			n++
		}
	}
	return n
}

// believed has the points of all jobs, without those whose figures are wrong.
func (s *sweeper) believed() []*points.Point {
	list := slices.Clone(s.found)
	for i, p := range list {
		if p != nil && p.IsInvalid() {
			list[i] = nil
		}
	}
	return list
}

// outcome returns the error with which the command ends.
func (s *sweeper) outcome(stderr io.Writer, err error) error {
	for _, f := range s.failures {
		fmt.Fprintf(stderr, "%s failed: %v\n", f.variant, f.err)
	}
	left := s.missingPoints()
	switch {
	case errors.Is(err, errInterrupted):
		fmt.Fprintf(stderr, "interrupted: %s of %d missing; %s goes on with them\n",
			count(left, "point"), len(s.jobs), s.sameCommand())
		return &codedError{exitStopped, errReported}
	case err != nil:
		return err
	case s.noPlace != nil:
		return fmt.Errorf("%s of %d missing, for which there was no place: %w", count(left, "point"), len(s.jobs),
			s.noPlace)
	case len(s.failures) > 0:
		fmt.Fprintf(stderr, "%s of %d failed\n", count(len(s.failures), "point"), len(s.jobs))
		return &codedError{exitFailed, errReported}
	case left > 0:
		fmt.Fprintf(stderr, "the time is up: %s of %d missing; %s goes on with them\n",
			count(left, "point"), len(s.jobs), s.sameCommand())
		if shortest := s.shortest(); s.shown.ended == 0 && shortest > 0 {
			fmt.Fprintf(stderr, "no point has ended in that time: the shortest takes about %s\n", rough(shortest))
		}
	}
	if invalid := s.invalidPoints(); invalid > 0 {
		fmt.Fprintf(stderr, "%s of %d INVALID, with wrong figures; %s runs them again\n",
			count(invalid, "point"), len(s.jobs), s.sameCommand())
		return &codedError{exitInvalid, errReported}
	}
	return nil
}

// sameCommand is what goes on: results are never written over.
func (s *sweeper) sameCommand() string {
	if s.named {
		return "the same command with another --out"
	}
	return "the same command"
}

// invalidPoints counts the points whose figures are wrong.
func (s *sweeper) invalidPoints() (n int) {
	for _, p := range s.found {
		if p != nil && p.IsInvalid() {
			n++
		}
	}
	return n
}

// shortest is how long the shortest point takes of those that are missing, as far as that can be
// told.
func (s *sweeper) shortest() (least time.Duration) {
	for i, p := range s.found {
		if p != nil || s.without[i] {
			continue
		}
		if d, _ := s.shown.expected(&s.jobs[i]); least == 0 || d < least {
			least = d
		}
	}
	return least
}
