package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"

	"sirdbed/capture/results"
)

// A Failure is a variant that did not run to its end or could not be analyzed,
// and why.
type Failure struct{ Variant, Reason string }

func (f Failure) String() string { return f.Variant + ": " + f.Reason }

// An Outcome is what a run came to, for files that other programs read.
type Outcome struct {
	*results.Summary
	Failed []Failure
}

// JUnit writes the outcome as a JUnit file, which the pages of CI systems show:
// a suite of the bounds, and one for each variant of the checks of its verdict.
// A test case fails where the command's exit code says so: a bound that is not
// met, a check that is INVALID. A check that is DEGRADED passes, with its
// finding as output; a variant that was left out is skipped.
func (o Outcome) JUnit(w io.Writer) error {
	return writeJUnit(w, "sirdbed run "+o.Scenario, o.suites(o.Scenario)...)
}

// suites are the outcome's, their names beginning with prefix.
func (o Outcome) suites(prefix string) []junitSuite {
	failed := map[string]string{}
	for _, f := range o.Failed {
		failed[f.Variant] = f.Reason
	}
	var list []junitSuite
	for _, v := range o.Variants {
		s := newSuite(prefix+"."+v.Variant, v.WallSeconds)
		if reason, ok := failed[v.Variant]; ok {
			s.failed(reason)
		}
		for _, c := range v.Checks {
			s.check(c, v.WallSeconds)
		}
		delete(failed, v.Variant)
		list = append(list, s)
	}
	for _, f := range o.Failed {
		if reason, ok := failed[f.Variant]; ok { // it has left nothing to summarize
			s := newSuite(prefix+"."+f.Variant, 0)
			s.failed(reason)
			list = append(list, s)
		}
	}
	for _, v := range o.Skipped {
		s := newSuite(prefix+"."+v.Variant, 0)
		s.add(junitCase{Name: runCheck, Skipped: &junitResult{Message: v.Reason}})
		list = append(list, s)
	}
	if len(o.Bounds) > 0 {
		s := newSuite(prefix+".bounds", 0)
		for _, b := range o.Bounds {
			s.bound(b)
		}
		list = append(list, s)
	}
	return list
}

// A Case is a test case of a JUnit file.
type Case struct {
	Name    string
	Failure string // what was got, and what was wanted; "": it passes
	Skipped string // why it was not looked at
	Out     string // what it says beside that
}

// WriteJUnit writes a JUnit file with one suite of cases, as the command of a name.
func WriteJUnit(w io.Writer, command, suite string, cases []Case) error {
	s := newSuite(suite, 0)
	for _, c := range cases {
		test := junitCase{Name: c.Name, Out: c.Out}
		if c.Failure != "" {
			test.Failure = &junitResult{Type: "differs", Message: c.Failure}
		}
		if c.Skipped != "" {
			test.Skipped = &junitResult{Message: c.Skipped}
		}
		s.add(test)
	}
	return writeJUnit(w, command, s)
}

// runCheck is the check of the verdict that a variant ran to its end: its case
// has the time that this took, and stands for variants without a verdict.
const runCheck = "run"

// failed adds that the variant did not run to its end.
func (s *junitSuite) failed(reason string) {
	s.add(junitCase{Name: runCheck, Time: s.Time, Error: &junitResult{Type: "failed", Message: reason}})
}

// check adds a check of the verdict; took is the time of the run, in seconds.
func (s *junitSuite) check(c results.Check, took float64) {
	test, text := junitCase{Name: c.Name}, fmt.Sprintf("%s; limit: %s", c.Found, c.Limit)
	if c.Name == runCheck {
		if s.Tests > 0 {
			return // why it failed is reported
		}
		test.Time = seconds(took)
	}
	switch c.Level {
	case results.Pass:
	case results.Invalid:
		test.Failure = &junitResult{Type: string(c.Level), Message: text}
	default:
		test.Out = string(c.Level) + ": " + text
	}
	s.add(test)
}

// bound adds a bound; if it is not met, the failure has value and limits.
func (s *junitSuite) bound(b results.Bound) {
	test := junitCase{Name: b.Name}
	switch {
	case b.Error != "":
		test.Failure = &junitResult{Type: "no value", Message: b.Error}
	case !b.OK:
		test.Failure = &junitResult{
			Type: "bound", Message: fmt.Sprintf("got %s, want %s", withUnit(number(b.Value), b.Unit), limits(b)),
			Text: "value " + strconv.FormatFloat(b.Value, 'g', -1, 64),
		}
	}
	s.add(test)
}

// limits says what a bound asks for.
func limits(b results.Bound) string {
	switch {
	case b.Min != nil && b.Max != nil:
		return withUnit(number(*b.Min)+" to "+number(*b.Max), b.Unit)
	case b.Min != nil:
		return "at least " + withUnit(number(*b.Min), b.Unit)
	case b.Max != nil:
		return "at most " + withUnit(number(*b.Max), b.Unit)
	}
	return "a value"
}

func withUnit(text, unit string) string {
	if unit == "" {
		return text
	}
	return text + " " + unit
}

// The elements of a JUnit file, with the attributes that Jenkins, GitLab and the
// actions of GitHub read. The order of fields is the order in the file.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     seconds      `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     seconds     `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"` // the suite's name
		Time    seconds      `xml:"time,attr"`
		Skipped *junitResult `xml:"skipped,omitempty"`
		Error   *junitResult `xml:"error,omitempty"`
		Failure *junitResult `xml:"failure,omitempty"`
		Out     string       `xml:"system-out,omitempty"`
	}
	junitResult struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// seconds are written without an exponent, which readers of JUnit do not take.
type seconds float64

// MarshalText writes milliseconds' precision. It never fails.
func (s seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(s), 'f', 3, 64), nil
}

func newSuite(name string, took float64) junitSuite {
	return junitSuite{Name: name, Time: seconds(took)}
}

// add adds a case, and counts it.
func (s *junitSuite) add(c junitCase) {
	c.Class = s.Name
	s.Cases = append(s.Cases, c)
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Error != nil {
		s.Errors++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
}

func writeJUnit(w io.Writer, name string, suites ...junitSuite) error {
	all := junitSuites{Name: name, Suites: suites}
	for _, s := range suites {
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Time += s.Time
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
