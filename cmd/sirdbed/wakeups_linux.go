//go:build !portable

package main

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"sirdbed/emu/real"
	"sirdbed/sirdnode/clock"
)

// A WakeUpsDiagnosis is how late threads wake up by one means against that.
type WakeUpsDiagnosis struct {
	Means string `json:"means"`
	Use   string `json:"use"`
	Error string `json:"error,omitempty"` // why it cannot be had
	// Percentiles of a crowd's lateness, in ns.
	P90  int64 `json:"p90_ns,omitempty"`
	P99  int64 `json:"p99_ns,omitempty"`
	P999 int64 `json:"p99_9_ns,omitempty"`
}

// diagnoseWakeUps tries each means. It takes about a third of a second for each.
func diagnoseWakeUps() (list []WakeUpsDiagnosis) {
	for _, c := range []struct {
		use   string
		means real.Means
	}{
		{"", real.Means{}},
		{"hosts at dilation 1", real.Means{Policy: clock.ShortSlice}},
		{"hosts above that, without root", real.Means{Policy: clock.ShortSlice, Awake: true}},
		{"", real.Means{Policy: clock.RealTime}},
		{"hosts above that; takes root", real.Means{Policy: clock.RealTime, Awake: true}},
	} {
		d := WakeUpsDiagnosis{Means: cmp.Or(c.means.String(), "none"), Use: c.use}
		if err := real.Probe(c.means.Policy); err != nil {
			d.Error = err.Error()
		} else {
			m := real.MeasureMachine(0, c.means)
			d.P90, d.P99, d.P999 = int64(m.Crowd.P90), int64(m.Crowd.P99), int64(m.Crowd.P999)
		}
		list = append(list, d)
	}
	return list
}

func printWakeUps(w io.Writer, list []WakeUpsDiagnosis) {
	fmt.Fprintln(w, "Wake-ups of a crowd are late by (p90, p99, p99.9), by what is done about it:")
	us := func(ns int64) string { return fmt.Sprintf("%6.0f", float64(ns)/float64(time.Microsecond)) }
	for _, d := range list {
		if d.Error != "" {
			fmt.Fprintf(w, "  %-24s %s\n", d.Means, d.Error)
			continue
		}
		fmt.Fprintf(w, "  %-24s %s %s %s us   %s\n", d.Means, us(d.P90), us(d.P99), us(d.P999), d.Use)
	}
}
