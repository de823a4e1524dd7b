package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sirdbed/capture/points"
	"sirdbed/capture/report"
	"sirdbed/capture/results"
	"sirdbed/emu"
	"sirdbed/emu/tree"
	"sirdbed/traffic"
)

// A diffItem is a point, or a cell or quantity of a reproduction, with all of its figures.
type diffItem struct {
	name   string
	key    string // of the experiment; "": it has none
	code   string
	stale  bool           // it is by other code than this program's
	values map[string]any // numbers, texts and booleans, by name
}

// diffItems are what results diff compares of one path.
type diffItems struct {
	path, kind string
	items      map[string]*diffItem // by what they are matched by
	damaged    []string
}

// readDiffItems reads the directory of a sweep or a reproduction, or one of points.
func readDiffItems(path string) (*diffItems, error) {
	dir, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	d := &diffItems{path: path, items: map[string]*diffItem{}}
	there := func(name string) bool { _, err := dir.Lstat(name); return err == nil }
	switch {
	case there(sweepJSON):
		return d, d.readSweep(dir)
	case there(comparisonJSON):
		return d, d.readReproduction(dir)
	case there(scenarioFile) || there(results.SummaryFile):
		return nil, fmt.Errorf("%s is the result of a run: sirdbed compare shows those side by side",
			report.Printable(path))
	}
	return d, d.readStore()
}

// readSweep reads the rows of a sweep: matched by where they are.
func (d *diffItems) readSweep(dir *tree.Dir) error {
	d.kind = "sweep"
	c := &compared{path: d.path}
	if err := c.read(dir, sweepJSON); err != nil {
		return err
	}
	for i := range c.sweep.Points {
		r := &c.sweep.Points[i]
		item := &diffItem{
			name: c.sweep.seeded(r), key: r.Key, code: r.Code,
			stale: isStale(emu.EngineName(r.Engine), r.Protocol, r.Code),
		}
		var err error
		if item.values, err = flat(r, "key", "code", "at", "paper"); err != nil {
			return err
		}
		d.items[item.name] = item
	}
	return nil
}

// readReproduction reads cells, quantities and claims' verdicts of a reproduction.
func (d *diffItems) readReproduction(dir *tree.Dir) error {
	d.kind = "reproduction"
	c := &compared{path: d.path}
	if err := c.read(dir, comparisonJSON); err != nil {
		return err
	}
	add := func(name string, value any) error {
		values, err := flat(value)
		d.items[name] = &diffItem{name: name, values: values}
		return err
	}
	var errs []error
	for i := range c.paper.Cells {
		if r := &c.paper.Cells[i]; r.Here != nil {
			errs = append(errs, add(r.Print.Cell.String(), struct {
				Number   float64 `json:"number"`
				Unstable bool    `json:"unstable"`
				Verdict  string  `json:"verdict"`
			}{r.Here.Number, r.Here.Unstable, string(r.Verdict)}))
		}
	}
	for name, v := range c.paper.Measured {
		errs = append(errs, add(name, struct {
			Number   float64 `json:"number"`
			Unstable bool    `json:"unstable"`
		}{v.Number, v.Unstable}))
	}
	for _, f := range c.paper.Claims {
		errs = append(errs, add("claim "+f.Claim.ID, map[string]string{"verdict": string(f.Verdict)}))
	}
	return errors.Join(errs...)
}

// readStore reads points: matched by their keys.
func (d *diffItems) readStore() error {
	d.kind = "directory of points"
	store, err := points.ViewStore(d.path)
	if err != nil {
		return err
	}
	defer store.Close()
	keys, err := store.Keys()
	if err != nil {
		return err
	}
	for _, key := range keys {
		p, _ := store.Get(points.Address{Key: key})
		if p == nil {
			continue // Damaged has it
		}
		item := &diffItem{name: pointName(p), key: p.Key, code: p.Code, stale: isStale(p.Engine, p.Protocol(), p.Code)}
		if item.values, err = pointValues(p); err != nil {
			return err
		}
		d.items[p.Key] = item
	}
	if d.damaged = store.Damaged(); len(d.items)+len(d.damaged) == 0 {
		return fmt.Errorf("%s has neither points nor the result of a sweep or a reproduction", report.Printable(d.path))
	}
	return nil
}

// isStale reports whether this program has other code than made a point.
func isStale(engine emu.EngineName, protocol, made string) bool {
	here, err := points.AddressOf(engine, &emu.Experiment{Protocol: protocol})
	return err != nil || here.Code != made
}

// pointName says what a point is of, in a few words.
func pointName(p *points.Point) string {
	x := &p.Experiment
	parts := []string{x.Scenario}
	if x.Variant != x.Protocol {
		parts = append(parts, x.Variant)
	}
	parts = append(parts, x.Protocol)
	for i := range x.Streams {
		if s := &x.Streams[i]; s.Sizes != "" && s.Load > 0 {
			parts = append(parts, fmt.Sprintf("%s load %.3g", s.Sizes, s.Load))
			if s.Arrivals == traffic.ArrivalsReleased {
				parts = append(parts, "released")
			}
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("seed %d", x.Seed)), " ")
}

// pointValues are a point's figures, without those that depend on the machine, and without
// curves.
func pointValues(p *points.Point) (map[string]any, error) {
	values, err := flat(p.Result, "variant", "checks", "notes", "reasons", "unstable_reasons")
	if err != nil {
		return nil, err
	}
	drops, err := flat(p.Drops)
	maps.Copy(values, drops)
	values["unbounded"] = p.Unbounded != ""
	return values, err
}

// ofMachine are figures that another run of the same has otherwise.
var ofMachine = []string{"wall_seconds", "nominal_seconds"}

// flat lists the numbers, texts and booleans of a value by their path in its JSON, but for
// some fields.
func flat(value any, without ...string) (map[string]any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	list := map[string]any{}
	flatten(tree, "", slices.Concat(ofMachine, without), list)
	return list, nil
}

func flatten(v any, at string, without []string, list map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if !slices.Contains(without, k) {
				flatten(x, strings.TrimPrefix(at+"."+k, "."), without, list)
			}
		}
	case []any:
		for i, x := range v {
			flatten(x, fmt.Sprintf("%s.%d", at, i), without, list)
		}
	case nil:
	default:
		list[at] = v
	}
}
