package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/results"
)

// parameters are those of all variants side by side, those first in which variants differ.
// Variants of one protocol with the same ones share a column.
func parameters(m *results.Manifest, of func(*results.ManifestVariant) (json.RawMessage, error)) Table {
	t := Table{Left: 1, Header: []string{"parameter"},
		Note: "*: given by the scenario, or fitted to it; all else is the protocol's default. " +
			"Variants of a protocol that differ in none share a column."}
	var columns []map[string]string
	var texts []string
	var order []string
	for i := range m.Variants {
		v := &m.Variants[i]
		changed := values(v.Experiment.Params)
		all := changed
		if of != nil {
			if text, err := of(v); err == nil {
				all = values(text)
			}
		}
		for name := range changed {
			if _, known := all[name]; known {
				all[name] += "*"
			}
		}
		names := make([]string, 0, len(all))
		for name := range all {
			names = append(names, name)
		}
		slices.Sort(names)
		text := v.Protocol
		for _, name := range names {
			text += "\n" + name + " " + all[name]
			if !slices.Contains(order, name) {
				order = append(order, name)
			}
		}
		if at := slices.Index(texts, text); at >= 0 {
			t.Header[at+1] += ", " + v.Variant
			continue
		}
		columns, texts, t.Header = append(columns, all), append(texts, text), append(t.Header, v.Variant)
	}
	var alike [][]string
	for _, name := range order {
		row, differ, first := []string{name}, false, ""
		for _, c := range columns {
			value, ok := c[name]
			switch {
			case !ok:
				value = "-"
			case first == "":
				first = value
			default:
				differ = differ || value != first
			}
			row = append(row, value)
		}
		if differ {
			t.Rows = append(t.Rows, row)
		} else {
			alike = append(alike, row)
		}
	}
	t.Rows = append(t.Rows, alike...)
	return t
}

// values are the members of a JSON object in words.
func values(text json.RawMessage) map[string]string {
	out := map[string]string{}
	var members map[string]json.RawMessage
	if len(text) == 0 || json.Unmarshal(text, &members) != nil {
		return out
	}
	for name, raw := range members {
		var word string
		if json.Unmarshal(raw, &word) != nil {
			word = strings.TrimSpace(string(raw))
		}
		out[name] = word
	}
	return out
}

// params lists a variant's own parameters, as JSON where they are not a list of names.
func params(text json.RawMessage) string {
	if len(text) == 0 {
		return ""
	}
	list := values(text)
	if len(list) == 0 {
		return string(text)
	}
	var words []string
	for name, value := range list {
		words = append(words, fmt.Sprintf("%s %s", name, value))
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}
