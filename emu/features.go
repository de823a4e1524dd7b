package emu

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"sirdbed/topo/units"
)

// Features are what an engine made ports and links of. Each engine fills in what
// it has; the zero value of a field is unknown.
type Features struct {
	Marker      Marker      `json:"marker,omitempty"`
	MarkerScope MarkerScope `json:"marker_scope,omitempty"`
	Levels      Levels      `json:"levels,omitempty"`
	Wires       Wires       `json:"wire,omitempty"`
	Payload     Payload     `json:"payload,omitempty"`
	HashSeed    HashSeed    `json:"hash_seed,omitempty"`
	// BurstTime is how late a port may be served and still make good what it
	// missed: it may send its rate times this at once.
	BurstTime KernelTime `json:"burst_time"`
	// Burst is the same in wire bytes, in results of versions before BurstTime.
	Burst units.Bytes `json:"burst,omitempty"`
}

// List names the features and their values as files do, in alphabetical order.
func (f Features) List() (list []string) {
	text, err := json.Marshal(f)
	var values map[string]string
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	if err != nil {
		panic(err) // all fields are texts
	}
	for name, value := range values {
		list = append(list, name+": "+value)
	}
	slices.Sort(list)
	return list
}

// A Marker is what sets CE in packets that find too much waiting. In every
// engine it counts the bytes in all levels of the port.
type Marker uint8

// The markers.
const (
	AnyMarker  Marker = iota // the engine chooses
	NoMarker                 // no port has to mark
	RED                      // sch_red: exact
	EBPF                     // an eBPF program with a virtual queue, within about a frame of the real one
	StepMarker               // the model's: exact
)

var markers = enum{"", "none", "red", "ebpf", "step"}

func (m Marker) String() string                   { return markers.text(int(m)) }
func (m Marker) MarshalText() ([]byte, error)     { return []byte(m.String()), nil }
func (m *Marker) UnmarshalText(text []byte) error { return markers.read("marker", text, (*uint8)(m)) }

// A MarkerScope is what a marker counts.
type MarkerScope uint8

// The scopes.
const (
	PerLevel MarkerScope = 1 + iota // the queue of the packet's own level, in results of earlier versions
	PerPort                         // all levels of the port
)

var markerScopes = enum{"", "level", "port"}

func (m MarkerScope) String() string               { return markerScopes.text(int(m)) }
func (m MarkerScope) MarshalText() ([]byte, error) { return []byte(m.String()), nil }
func (m *MarkerScope) UnmarshalText(text []byte) error {
	return markerScopes.read("marker scope", text, (*uint8)(m))
}

// Levels is what serves a port's priorities in their order.
type Levels uint8

// The ways to serve levels.
const (
	AnyLevels  Levels = iota
	HTBClasses        // HTB's classes: strict but for one packet of each in a minute
	PrioBands         // sch_prio: strict
)

var levels = enum{"", "htb", "prio"}

func (l Levels) String() string                   { return levels.text(int(l)) }
func (l Levels) MarshalText() ([]byte, error)     { return []byte(l.String()), nil }
func (l *Levels) UnmarshalText(text []byte) error { return levels.read("levels", text, (*uint8)(l)) }

// Wires is what serializes and delays packets.
type Wires uint8

// The kinds of wires.
const (
	AnyWires  Wires = iota // the engine chooses
	Netem                  // netem on every link
	HostDelay              // the receiving hosts: each keeps a packet for its path's time
)

var wires = enum{"", "netem", "hold"}

func (w Wires) String() string                   { return wires.text(int(w)) }
func (w Wires) MarshalText() ([]byte, error)     { return []byte(w.String()), nil }
func (w *Wires) UnmarshalText(text []byte) error { return wires.read("wire", text, (*uint8)(w)) }

// A Payload is what the model's packets carry.
type Payload uint8

// The kinds of payload.
const (
	PayloadLengths Payload = 1 + iota // lengths alone
	PayloadBytes                      // whole frames, checksums and all
)

var payloads = enum{"", "lengths", "bytes"}

func (p Payload) String() string               { return payloads.text(int(p)) }
func (p Payload) MarshalText() ([]byte, error) { return []byte(p.String()), nil }
func (p *Payload) UnmarshalText(text []byte) error {
	return payloads.read("payload", text, (*uint8)(p))
}

// A HashSeed is the seed of the hash by which leaves choose a spine; 0 is
// unknown.
type HashSeed int64

// RandomHash is a seed that the kernel draws, so that paths differ from run to
// run.
const RandomHash HashSeed = -1

func (h HashSeed) String() string {
	if h == RandomHash {
		return "random"
	}
	return strconv.FormatInt(int64(h), 10)
}

// MarshalText implements encoding.TextMarshaler.
func (h HashSeed) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *HashSeed) UnmarshalText(text []byte) error {
	if string(text) == "random" {
		*h = RandomHash
		return nil
	}
	n, err := strconv.ParseUint(string(text), 10, 32)
	*h = HashSeed(n)
	return err
}

// KernelTime is a span of the kernel's clock.
type KernelTime time.Duration

func (k KernelTime) String() string { return time.Duration(k).String() }

// MarshalText implements encoding.TextMarshaler.
func (k KernelTime) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *KernelTime) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*k = KernelTime(d)
	return err
}

// An enum is the texts of a type's values, from 0.
type enum []string

func (e enum) text(v int) string {
	if v < len(e) {
		return e[v]
	}
	return fmt.Sprint(v)
}

func (e enum) read(what string, text []byte, v *uint8) error {
	i := slices.Index(e, string(text))
	if i < 0 {
		return fmt.Errorf("there is no %s %q: want one of %q", what, text, e[1:])
	}
	*v = uint8(i)
	return nil
}
