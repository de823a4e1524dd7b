package emu

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Facts are read back as they were written, and so are those of versions that
// kept features as texts. What cannot be read is an error, not a zero.
func TestFactsAreReadBack(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Features
	}{
		{"of the real engine",
			`{"burst_time": "40.5µs", "hash_seed": "random", "levels": "htb", "marker": "ebpf", "wire": "hold"}`,
			Features{Marker: EBPF, Levels: HTBClasses, Wires: HostDelay, HashSeed: RandomHash,
				BurstTime: KernelTime(40500 * time.Nanosecond)}},
		{"of the virtual engine",
			`{"burst_time": "0s", "hash_seed": "7", "levels": "prio", "marker": "red", "wire": "netem"}`,
			Features{Marker: RED, Levels: PrioBands, Wires: Netem, HashSeed: 7}},
		{"of the model", `{"marker": "step", "marker_scope": "port", "payload": "lengths"}`,
			Features{Marker: StepMarker, MarkerScope: PerPort, Payload: PayloadLengths}},
		{"of an earlier model", `{"marker": "step", "marker_scope": "level", "payload": "lengths"}`,
			Features{Marker: StepMarker, MarkerScope: PerLevel, Payload: PayloadLengths}},
		{"with a burst in bytes", `{"burst": "9038B", "marker": "none"}`, Features{Marker: NoMarker, Burst: 9038}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f, back Facts
			if err := json.Unmarshal([]byte(`{"engine": "real", "features": `+c.text+`}`), &f); err != nil {
				t.Fatal(err)
			}
			if f.Features != c.want {
				t.Errorf("got %+v, want %+v", f.Features, c.want)
			}
			written, err := json.Marshal(&f)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(written, &back); err != nil || !reflect.DeepEqual(f, back) {
				t.Errorf("got %+v back, want %+v (%v)", back, f, err)
			}
		})
	}
	for _, text := range []string{
		`{"burst_time": "?"}`, `{"burst_time": "100"}`, `{"burst": "many"}`, `{"marker": "green"}`,
		`{"wire": "copper"}`, `{"levels": "drr"}`, `{"hash_seed": "-1"}`,
	} {
		t.Run(text, func(t *testing.T) {
			if err := json.Unmarshal([]byte(text), &Features{}); err == nil {
				t.Error("it was read, want an error")
			}
		})
	}
}

func TestFeaturesAreListed(t *testing.T) {
	f := Features{Marker: RED, Levels: PrioBands, Wires: Netem, HashSeed: 7, BurstTime: KernelTime(time.Microsecond)}
	const want = "burst_time: 1µs, hash_seed: 7, levels: prio, marker: red, wire: netem"
	if got := strings.Join(f.List(), ", "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
