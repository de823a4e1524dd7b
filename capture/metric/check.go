package metric

import (
	"fmt"
	"slices"
	"strings"
)

// A FieldError is a field of a metric that cannot be as it is.
type FieldError struct {
	Field   string // by its name in scenario files
	Reason  string
	Given   string   // the value at fault, where another one would do
	Choices []string // which these are
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

// Check finds what is wrong with a metric before there is a result to evaluate it
// on. given reports whether a field is stated at all. Names of streams, hosts and
// the like are for the caller to check, who knows the scenario.
func (m *Metric) Check(given func(field string) bool) *FieldError {
	d, ok := Find(m.Name)
	if !ok {
		return choice("metric", fmt.Sprintf("no metric is called %q", m.Name), m.Name, Names())
	}
	for _, f := range Fields {
		switch {
		case !given(f.Name):
		case !d.Takes(f.Name):
			return &FieldError{
				Field:  f.Name,
				Reason: fmt.Sprintf("%s does not apply to %s, which takes %s", f.Name, d.Name, d.takes()),
			}
		case f.Values != nil && !slices.Contains(f.Values, m.text(f.Name)):
			given := m.text(f.Name)
			return choice(f.Name, fmt.Sprintf("no %s is called %q", f.Name, given), given, f.Values)
		}
	}
	if err := m.checkStat(d, given(statField)); err != nil {
		return err
	}
	one := slices.DeleteFunc(slices.Clone(d.Either), func(f string) bool { return !given(f) })
	if len(one) > 1 {
		return &FieldError{Field: one[1], Reason: fmt.Sprintf("given beside %s: want one of the two", one[0])}
	}
	if len(d.Needs) > 0 && !slices.ContainsFunc(d.Needs, given) {
		reason := fmt.Sprintf("missing: %s needs %s", d.Name, strings.Join(d.Needs, " or "))
		return &FieldError{Field: d.Needs[0], Reason: reason}
	}
	return nil
}

func (m *Metric) checkStat(d *Descriptor, given bool) *FieldError {
	switch {
	case !given && len(d.Stats) > 0 && d.Default == "":
		return &FieldError{
			Field:  statField,
			Reason: fmt.Sprintf("missing: %s needs one of %s", d.Name, strings.Join(d.Stats, ", ")),
		}
	case given && !slices.Contains(d.Stats, m.Stat):
		return choice(statField, fmt.Sprintf("%s has no statistic %q", d.Name, m.Stat), m.Stat, d.Stats)
	}
	return nil
}

func choice(field, reason, given string, choices []string) *FieldError {
	return &FieldError{
		Field: field, Reason: reason + ": use one of " + strings.Join(choices, ", "), Given: given, Choices: choices,
	}
}

// text is the value of a field that has Values.
func (m *Metric) text(field string) string {
	switch field {
	case "group":
		return m.Group
	case "definition":
		return m.Definition
	}
	return ""
}
