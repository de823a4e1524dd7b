// Package effort is how much tests do that can do more: environment variables give them
// numbers other than their own. One that is no number fails the test: it would pass
// otherwise without having done what it was to do.
package effort

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

// Count returns the number of an environment variable, 1 at least, or the usual one
// where it is not set, or empty.
func Count(t testing.TB, name string, usual int) int {
	t.Helper()
	return of(t, name, usual, func(text string) (int, error) { return atLeast(text, 1) })
}

// Seed returns the number of an environment variable, 0 where it is not set, or empty.
func Seed(t testing.TB, name string) uint64 {
	t.Helper()
	return uint64(of(t, name, 0, func(text string) (int, error) { return atLeast(text, 0) }))
}

// Duration is Count of a time, such as 1h, which is 0 where nothing is set.
func Duration(t testing.TB, name string) time.Duration {
	t.Helper()
	return of(t, name, 0, duration)
}

func of[T any](t testing.TB, name string, usual T, parse func(string) (T, error)) T {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	value, err := parse(text)
	if err != nil {
		t.Fatalf("%s=%s: %v", name, text, err)
	}
	return value
}

func atLeast(text string, least int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return 0, fmt.Errorf("want a whole number of %d or more", least)
	}
	return n, nil
}

func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("want a time of more than 0, such as 90s or 1h")
	}
	return d, nil
}
