package paper

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Bounds say what a figure has to be: near a number, and no more or no less than
// another. Those that are not given are nil.
type Bounds struct {
	About   *number `yaml:"about"`
	Within  percent `yaml:"within"` // of About
	AtMost  *number `yaml:"at_most"`
	AtLeast *number `yaml:"at_least"`
}

// check returns what is wrong with them.
func (b Bounds) check() error {
	switch {
	case b.About == nil && b.AtMost == nil && b.AtLeast == nil:
		return errors.New("it needs about, at_most or at_least")
	case (b.About != nil) != (b.Within > 0):
		return errors.New("about and within go together")
	}
	return nil
}

// met reports whether a figure is as it has to be.
func (b Bounds) met(x float64) bool {
	return (b.About == nil || math.Abs(x-b.About.measure) <= float64(b.Within)*math.Abs(b.About.measure)) &&
		(b.AtMost == nil || x <= b.AtMost.measure) && (b.AtLeast == nil || x >= b.AtLeast.measure)
}

// String says what they are.
func (b Bounds) String() string {
	var parts []string
	if b.About != nil {
		parts = append(parts, fmt.Sprintf("%s within %s", digits(b.About.measure), b.Within))
	}
	if b.AtLeast != nil {
		parts = append(parts, "at least "+digits(b.AtLeast.measure))
	}
	if b.AtMost != nil {
		parts = append(parts, "at most "+digits(b.AtMost.measure))
	}
	return strings.Join(parts, ", ")
}

// A number is one of ours, or one that the paper has stated, by its id.
type number struct {
	measure float64
	id      string // of a stated one
}

// UnmarshalYAML reads a number or an id.
func (n *number) UnmarshalYAML(node ast.Node) error {
	text := node.String()
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s is not finite", text)
		}
		n.measure = x
		return nil
	}
	v, ok := value(text)
	if !ok {
		return fmt.Errorf("%q is neither a number nor the id of a stated one", text)
	}
	n.measure, n.id = v.measure(), text
	return nil
}

// A percent is a share, which is written as a percentage: 0.25 is 25%.
type percent float64

// UnmarshalYAML reads a percentage.
func (p *percent) UnmarshalYAML(node ast.Node) error {
	text, found := strings.CutSuffix(node.String(), "%")
	x, err := strconv.ParseFloat(text, 64)
	if !found || err != nil || !(x > 0) || x > 1000 {
		return fmt.Errorf("%q is not a percentage of more than 0%%", node)
	}
	*p = percent(x / 100)
	return nil
}

func (p percent) String() string { return digits(100*float64(p)) + " %" }

// digits prints a number with three or four significant digits.
func digits(x float64) string {
	switch abs := math.Abs(x); {
	case math.IsNaN(x):
		return "unknown" // of two that are unstable, or without messages
	case math.IsInf(x, 0):
		return "unstable"
	case abs >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case abs >= 100:
		return trimZeros(strconv.FormatFloat(x, 'f', 1, 64))
	case abs >= 1:
		return trimZeros(strconv.FormatFloat(x, 'f', 2, 64))
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

func trimZeros(s string) string { return strings.TrimRight(strings.TrimRight(s, "0"), ".") }
