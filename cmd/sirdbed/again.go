package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sirdbed/baselines/all"
	"sirdbed/capture/results"
	"sirdbed/emu/tree"
	"sirdbed/scenarios"
	"sirdbed/topo"
)

// again is the command that makes the run in dir again, with its seed: of the scenario in
// the binary, or of the one in the result where it is another. It is "" if the scenario
// cannot be read.
func (r *Record) again(dir *tree.Dir, seed uint64) string {
	text, err := dir.Read(scenarioText)
	if err != nil {
		return ""
	}
	scenario := dir.At(scenarioText)
	if name := r.Scenario.Name; slices.Contains(scenarios.Names(), name) {
		if s, err := scenarios.Load(name); err == nil && strings.HasSuffix(string(text), s.Text()) {
			scenario = name
		}
	}
	words := []string{"sirdbed", "run", quoted(scenario), "--engine", string(r.Engine),
		"--seed", fmt.Sprint(seed)}
	if labels := r.Scenario.Labels(); len(r.Runs) > 0 && len(r.Runs)+len(r.Skipped) < len(labels) {
		words = append(words, "--variant", quoted(strings.Join(r.Runs, ",")))
	}
	for _, set := range r.Scenario.Set {
		words = append(words, "--set", quoted(set))
	}
	return strings.Join(words, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./,:=@%+-]+$`)

// quoted is a word for a shell.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// allParams are all parameters of a variant's protocol, as JSON.
func allParams(v *results.ManifestVariant) (json.RawMessage, error) {
	p, err := all.Find(v.Protocol)
	if err != nil {
		return nil, err
	}
	f, err := topo.New(v.Experiment.Topology)
	if err != nil {
		return nil, err
	}
	params, err := all.DecodeParams(p, f, v.Experiment.Params)
	if err != nil {
		return nil, err
	}
	return json.Marshal(params)
}
