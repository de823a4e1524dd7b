package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sirdbed/capture/points"
	"sirdbed/scenarios/sweep"
	"sirdbed/topo/units"
)

// A protocol that panics fails its point, and is named.
func TestPanicIsThePointsError(t *testing.T) {
	run := runner(func(context.Context, *sweep.Job, func(units.Time)) (*points.Point, error) {
		var hosts []int
		return nil, errors.New(strings.Repeat("x", hosts[len(hosts)]))
	})
	_, err := run.guarded(t.Context(), &sweep.Job{}, nil, time.Hour)
	for _, want := range []string{"panic: ", "out of range", "TestPanicIsThePointsError", "pointguard_test.go:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

// What does not end when it is told to is left behind; what ends late is not.
func TestPointThatDoesNotEnd(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	never := make(chan struct{})
	defer close(never)
	hangs := runner(func(context.Context, *sweep.Job, func(units.Time)) (*points.Point, error) {
		<-never
		return nil, nil
	})
	if _, err := hangs.guarded(interrupted, &sweep.Job{}, nil, time.Millisecond); !errors.Is(err, errNoEnd) {
		t.Errorf("got %v, want %v", err, errNoEnd)
	}
	want := &points.Point{}
	late := runner(func(ctx context.Context, _ *sweep.Job, _ func(units.Time)) (*points.Point, error) {
		<-ctx.Done()
		return want, nil
	})
	if p, err := late.guarded(interrupted, &sweep.Job{}, nil, time.Hour); p != want || err != nil {
		t.Errorf("got %v, %v, want the point", p, err)
	}
}
