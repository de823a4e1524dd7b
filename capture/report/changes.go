package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sirdbed/capture/results"
)

// faultsOf names the faults of a result in words, "" where there are none: those of all
// variants, then each one's own.
func faultsOf(s *results.Summary) string {
	var texts []string
	if s.Faults != nil && s.Faults.Enabled() {
		texts = append(texts, s.Faults.String())
	}
	for _, v := range s.Variants {
		if len(v.Faults) == 0 {
			continue
		}
		text := strings.Join(v.Faults, ", ")
		if len(s.Variants) > 1 {
			text = v.Variant + " (" + text + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// changes is what makes a run another than its scenario's name promises: the
// faults injected, and what --set changed.
func changes(s *results.Summary) (texts []string) {
	if text := faultsOf(s); text != "" {
		texts = append(texts, "Faults injected: "+text+".")
	}
	if len(s.Set) > 0 {
		texts = append(texts, "Changed by --set: "+strings.Join(s.Set, ", ")+".")
	}
	return texts
}

// differences says in what runs differ beside their figures.
func differences(names []string, list []*results.Summary) []string {
	var conditions []Condition
	for _, of := range []struct {
		what string
		text func(*results.Summary) string
	}{
		{"The scenarios differ:", func(s *results.Summary) string { return s.Scenario }},
		{"The seeds differ:", func(s *results.Summary) string { return fmt.Sprint(s.Seed) }},
		{"The faults injected differ:", faultsOf},
		{"What --set changed differs:", func(s *results.Summary) string { return strings.Join(s.Set, ", ") }},
	} {
		f := Condition{What: of.what}
		for _, s := range list {
			text := of.text(s)
			if s.Faults == nil && text == "" {
				text = "not recorded"
			}
			f.Of = append(f.Of, text)
		}
		conditions = append(conditions, f)
	}
	return Differences(names, conditions)
}

// A Condition is what results may differ in beside their figures.
type Condition struct {
	What string   // said if they do, such as "The seeds differ:"
	Of   []string // by result; "": none
}

// Differences says in which conditions results differ: a line for each, and one for each result below it.
func Differences(names []string, conditions []Condition) (lines []string) {
	for _, f := range conditions {
		if !slices.ContainsFunc(f.Of, func(text string) bool { return text != f.Of[0] }) {
			continue
		}
		lines = append(lines, f.What)
		for i, text := range f.Of {
			lines = append(lines, fmt.Sprintf("  %s: %s", shortName(names[i], names), cmp.Or(text, "none")))
		}
	}
	return lines
}
