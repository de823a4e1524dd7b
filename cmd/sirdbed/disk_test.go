package main

import "testing"

func TestHumanSizes(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.00 KB", 9994: "9.99 KB", 9995: "10.0 KB", 31_613_456: "31.6 MB",
		99_949: "99.9 KB", 99_950: "100 KB", 999_499: "999 KB", 999_500: "1.00 MB", 2e9: "2.00 GB", 5e15: "5.00 PB", 5e18: "5000 PB",
	} {
		if got := humanSize(bytes); got != want {
			t.Errorf("%d: got %s, want %s", bytes, got, want)
		}
	}
}
