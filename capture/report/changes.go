package report

import (
	"fmt"
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

// differences says in what results differ beside their figures: a line for each
// thing, and one for each result below it.
func differences(names []string, list []*results.Summary) (lines []string) {
	for _, of := range []struct {
		what string
		text func(*results.Summary) string
	}{
		{"The scenarios differ:", func(s *results.Summary) string { return s.Scenario }},
		{"The seeds differ:", func(s *results.Summary) string { return fmt.Sprint(s.Seed) }},
		{"The faults injected differ:", faultsOf},
		{"What --set changed differs:", func(s *results.Summary) string { return strings.Join(s.Set, ", ") }},
	} {
		texts := make([]string, len(list))
		differ := false
		for i, s := range list {
			switch texts[i] = of.text(s); {
			case s.Faults == nil && texts[i] == "":
				texts[i] = "not recorded"
			case texts[i] == "":
				texts[i] = "none"
			}
			differ = differ || texts[i] != texts[0]
		}
		if !differ {
			continue
		}
		lines = append(lines, of.what)
		for i, text := range texts {
			lines = append(lines, fmt.Sprintf("  %s: %s", shortName(names[i], names), text))
		}
	}
	return lines
}
