// Package limit has the limits of every number, text and list that a scenario may
// hold, each with its reason. What reads a file, what checks an experiment and the
// JSON schema of scenario files all take them from here; a protocol's own stand
// beside its parameters, in a Table too.
//
// A limit is about one value. What must fit together is for the packages to check
// that know what it means.
package limit

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"sirdbed/topo/units"
)

// A Limit is what one field may hold.
type Limit struct {
	Field    string  // by its name in files; "from[]" for the items of from
	Min, Max float64 // both included: a value in its base unit, the length of a text or list
	Infinite bool    // a value may be infinite besides
	Lines    bool    // a text may have several lines
	Why      string  // the reason for the limit

	from, to string // Min and Max as files have them
	of       string // what is counted: "characters", "items"; "" for a value
}

// Number makes the limit of a number or quantity. Both ends are exact as float64,
// up to 2^53.
func Number[T ~int | ~int64 | ~uint64 | ~float64](field string, from, to T, why string) Limit {
	return Limit{Field: field, Min: float64(from), Max: float64(to), Why: why, from: fmt.Sprint(from),
		to: fmt.Sprint(to)}
}

// OrInfinite is the limit of a value that may be infinite too.
func (l Limit) OrInfinite() Limit {
	l.Infinite = true
	return l
}

// Text makes the limit of a text of one line, in characters.
func Text(field string, from, to int, why string) Limit {
	l := Number(field, from, to, why)
	l.of = "characters"
	return l
}

// Prose makes the limit of a text that may have several lines, in characters.
func Prose(field string, to int, why string) Limit {
	l := Text(field, 0, to, why)
	l.Lines = true
	return l
}

// List makes the limit of a list, in items.
func List(field string, from, to int, why string) Limit {
	l := Number(field, from, to, why)
	l.of = "items"
	return l
}

// Range is the limit in words, such as "1Mbps to 10Tbps", "0 to 1 or inf".
func (l Limit) Range() string {
	text := l.from + " to " + l.to
	if l.Infinite {
		text += " or inf"
	}
	if l.Min == l.Max {
		text = l.to
	}
	if l.of != "" {
		text += " " + l.of
	}
	return text
}

// Reason says what is wrong with a value of the field, "" if nothing is: "leaves is
// 0: want 1 to 249: ...". A text must be printable.
func (l Limit) Reason(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		if !(l.Infinite && v.Interface() == units.Unlimited) && !l.holds(float64(v.Int())) {
			return l.outside("is", v.Interface())
		}
	case reflect.Uint64:
		if !l.holds(float64(v.Uint())) {
			return l.outside("is", v.Interface())
		}
	case reflect.Float64:
		if x := v.Float(); !(l.Infinite && math.IsInf(x, 1)) && !l.holds(x) {
			return l.outside("is", x)
		}
	case reflect.String:
		if n := utf8.RuneCountInString(v.String()); !l.holds(float64(n)) {
			return l.outside("has", n)
		}
		if r, bad := l.unprintable(v.String()); bad {
			return fmt.Sprintf("%s has the character %U: want what can be printed", l.name(), r)
		}
	case reflect.Slice, reflect.Array:
		if !l.holds(float64(v.Len())) {
			return l.outside("has", v.Len())
		}
	default:
		panic(fmt.Sprintf("a limit of %v", v.Type()))
	}
	return ""
}

// holds is false for a NaN too.
func (l Limit) holds(x float64) bool { return x >= l.Min && x <= l.Max }

// Outside is the reason of a value that no variable can hold.
func (l Limit) Outside(value string) string { return l.outside("is", value) }

func (l Limit) outside(verb string, value any) string {
	return fmt.Sprintf("%s %s %v: want %s: %s", l.name(), verb, value, l.Range(), l.Why)
}

// name is the field in words.
func (l Limit) name() string {
	if list, ok := strings.CutSuffix(l.Field, "[]"); ok {
		return "an item of " + list
	}
	return l.Field
}

func (l Limit) unprintable(text string) (rune, bool) {
	for _, r := range text {
		if !unicode.IsPrint(r) && !(l.Lines && (r == '\n' || r == '\t')) || r == utf8.RuneError {
			return r, true
		}
	}
	return 0, false
}

// A Table has the limits of the fields of one kind of thing.
type Table []Limit

// Find returns the limit of a field.
func (t Table) Find(field string) (Limit, bool) {
	for _, l := range t {
		if l.Field == field {
			return l, true
		}
	}
	return Limit{}, false
}

// Of returns the limit of a field that has one.
func (t Table) Of(field string) Limit {
	l, ok := t.Find(field)
	if !ok {
		panic("no limit of " + field)
	}
	return l
}

// An Error is a field that is outside its limit.
type Error struct {
	Field  string // by its name in files; of an item of a list: "from[3]"
	Reason string // with the field's name
}

func (e *Error) Error() string { return e.Reason }

// Check finds the first field of a struct, or of what a pointer leads to, that is
// outside its limit in the table, as an *Error. Fields go by their names in JSON; those that may
// be left out are not checked at zero, those without a limit not at all. What is in
// structs inside is for the caller to check.
func (t Table) Check(given any) error {
	v := reflect.Indirect(reflect.ValueOf(given))
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		f := v.Field(i)
		optional := strings.Contains(options, "omitempty")
		if optional && f.IsZero() {
			continue
		}
		f = reflect.Indirect(f)
		if l, ok := t.Find(name); ok {
			if reason := l.Reason(f); reason != "" {
				return &Error{name, reason}
			}
		}
		l, ok := t.Find(name + "[]")
		for j := 0; ok && j < f.Len(); j++ {
			if reason := l.Reason(f.Index(j)); reason != "" {
				return &Error{fmt.Sprintf("%s[%d]", name, j), reason}
			}
		}
	}
	return nil
}
