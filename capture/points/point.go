// Package points keeps the results of single experiments as small files, by which sweeps
// of many go on where they stopped, on another machine too, and are compared.
//
// A point is named by what it depends on: the experiment, without the names that scenarios
// give it, the engine, and the code (package code).
package points

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"sirdbed/capture/results"
	"sirdbed/emu"
)

// Format is the number of the format of points.
const Format = 1

// Size is about how many bytes the file of a point takes.
const Size = 25_000

// A Point is what is kept of a finished experiment.
type Point struct {
	Format     int                    `json:"format"`
	Key        string                 `json:"key"`  // of the experiment and the engine: see Key
	Code       string                 `json:"code"` // see code.Of
	Engine     emu.EngineName         `json:"engine"`
	Experiment emu.Experiment         `json:"experiment"`
	Result     results.VariantSummary `json:"result"`
	Drops      Drops                  `json:"drops"`
	Course     *results.Course        `json:"course,omitempty"`
	Curves     results.Curves         `json:"curves,omitzero"`
	// Unbounded says why the run was ended before its time: a switch's queue grew
	// without bound.
	Unbounded string `json:"unbounded,omitempty"`
	// Grows says how a leaf's queue grew without bound over the run, where there is no Course
	// that shows it: of a point that is known by a sweep's row.
	Grows string `json:"-"`

	// Made says by which code it was made, where that is not Code; nil: by Code.
	Made *Made `json:"made,omitempty"`

	// Of the run that made it; they depend on the machine.
	Finished time.Time `json:"finished"`
	Go       string    `json:"go"`
	Machine  string    `json:"machine,omitempty"` // "2 x AMD EPYC, linux/amd64"
	// ProcessorSeconds is what the run took of a processor, whatever else that had to do; 0: not
	// known. On the model alone.
	ProcessorSeconds float64 `json:"processor_seconds,omitempty"`
}

// A Made is the code that made a point which later code has taken over: of Of points of the
// same protocol and code, Repeated were run again by the later one, with the same figures.
type Made struct {
	Code     string `json:"code"`
	Repeated int    `json:"repeated"`
	Of       int    `json:"of"`
}

// Seconds is what a run like the point's takes where nothing else runs, as far as is known.
func (p *Point) Seconds() float64 { return cmp.Or(p.ProcessorSeconds, p.Result.WallSeconds) }

// Drops are what all ports did to packets over the run.
type Drops struct {
	Drops   int64 `json:"drops"`
	Credits int64 `json:"credit_drops"`
	Marks   int64 `json:"marks"`
}

// digits is to how many significant digits a point's figures are kept.
const digits = 6

// New makes the point of a variant that was run and judged.
func New(engine emu.EngineName, x *emu.Experiment, v *results.Variant) (*Point, error) {
	a, err := AddressOf(engine, x)
	if err != nil {
		return nil, err
	}
	p := &Point{
		Format: Format, Key: a.Key, Code: a.Code, Engine: engine, Experiment: *x,
		Result: results.Summarize([]*results.Variant{v}).Variants[0], Course: v.Course, Curves: v.Curves,
		Finished: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), Machine: machine(),
	}
	if v.Facts != nil {
		for _, port := range v.Facts.Ports {
			p.Drops.Drops += port.Drops
			p.Drops.Credits += port.CreditDrops
			p.Drops.Marks += port.Marks
		}
	}
	// Hundreds of ports would be most of the file.
	p.Result.QueueBytes.Ports = nil
	return p, nil
}

// encode writes a point down, the figures of its result rounded, behind its checksum.
func (p *Point) encode() ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for name, part := range all {
		if name == "experiment" { // by which the point is found again
			continue
		}
		var value any
		d := json.NewDecoder(bytes.NewReader(part))
		d.UseNumber()
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		if all[name], err = json.Marshal(round(value)); err != nil {
			return nil, err
		}
	}
	if text, err = json.Marshal(all); err != nil {
		return nil, err
	}
	return withSum(text), nil
}

// round rounds the numbers in a JSON value that are not whole.
func round(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = round(v[k])
		}
	case []any:
		for i := range v {
			v[i] = round(v[i])
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			short := strconv.FormatFloat(f, 'g', digits, 64)
			if !strings.ContainsAny(short, "nN") {
				return json.Number(short)
			}
		}
	}
	return v
}

// decode reads a point that a run may have made.
func decode(text []byte) (*Point, error) {
	p, err := parse(text)
	if err != nil {
		return nil, err
	}
	if err := p.sound(); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	return p, nil
}

// parse reads a point, whatever it is of.
func parse(text []byte) (*Point, error) {
	head := struct {
		Format int `json:"format"`
	}{}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	if head.Format != Format {
		return nil, &results.FormatError{Format: head.Format, Oldest: Format, Newest: Format}
	}
	p := &Point{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("damaged: %w", err)
	}
	key, err := Key(p.Engine, &p.Experiment)
	if err != nil {
		return nil, err
	}
	if key != p.Key {
		return nil, errors.New("damaged: its key is not that of its experiment")
	}
	return p, checkSum(text)
}
