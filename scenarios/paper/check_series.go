package paper

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A stepsCheck asks whether figures rise, or fall, from each to the next.
type stepsCheck struct {
	Of        []string `yaml:"of"`   // patterns of names, in order
	Less      []string `yaml:"less"` // subtract these, one for each of the others
	Over      []string `yaml:"over"` // or divide by them
	Direction string   `yaml:"direction"`
	Slack     percent  `yaml:"slack"` // by how much a step may go the other way

	of, less, over []string
}

func (c *stepsCheck) prepare() ([]string, error) {
	var err, err2, err3 error
	c.of, err = expandAll(c.Of)
	c.less, err2 = expandAll(c.Less)
	c.over, err3 = expandAll(c.Over)
	switch {
	case err != nil || err2 != nil || err3 != nil:
		return nil, errors.Join(err, err2, err3)
	case len(c.of) < 2 || len(c.less) > 0 && len(c.less) != len(c.of) ||
		len(c.over) > 0 && len(c.over) != len(c.of) || len(c.less) > 0 && len(c.over) > 0:
		return nil, errors.New("it needs two figures at least, and as many less or over as of")
	case c.Direction != "rising" && c.Direction != "falling":
		return nil, errors.New("direction is rising or falling")
	}
	return slices.Concat(c.of, c.less, c.over), nil
}

func (c *stepsCheck) evaluate(f figures) outcome {
	o := outcome{holds: true}
	var texts []string
	var before float64
	for i, name := range c.of {
		x := f.of(name)
		if len(c.less) > 0 {
			x -= f.of(c.less[i])
		}
		if len(c.over) > 0 {
			x /= f.of(c.over[i])
		}
		texts = append(texts, digits(x))
		slack := math.Abs(before) * float64(c.Slack)
		if math.IsInf(before, 0) {
			slack = 0
		}
		switch {
		case math.IsNaN(x):
			o.holds = false
		case i == 0:
		case c.Direction == "rising" && x <= before-slack, c.Direction == "falling" && x >= before+slack:
			o.holds = false
		}
		before = x
	}
	o.text = fmt.Sprintf("%s, wanted %s", strings.Join(texts, ", "), c.Direction)
	return o
}

// An alikeCheck asks whether figures are near each other.
type alikeCheck struct {
	Of     []string `yaml:"of"`     // patterns of names
	Within percent  `yaml:"within"` // by how much the largest may be more than the smallest

	of []string
}

func (c *alikeCheck) prepare() (names []string, err error) {
	c.of, err = expandAll(c.Of)
	if err == nil && (len(c.of) < 2 || c.Within == 0) {
		err = errors.New("it needs two figures at least, and within")
	}
	return c.of, err
}

func (c *alikeCheck) evaluate(f figures) outcome {
	least, most := math.Inf(1), math.Inf(-1)
	for _, name := range c.of {
		x := f.of(name)
		least, most = min(least, x), max(most, x)
	}
	return outcome{
		most <= least*(1+float64(c.Within)) && !math.IsInf(most, 0),
		fmt.Sprintf("%s: %s to %s, wanted within %s", sharedName(c.of), digits(least), digits(most), c.Within),
	}
}

// sharedName is what names have in common, with "*" for each part that differs.
func sharedName(names []string) string {
	parts := strings.Split(names[0], "/")
	for _, name := range names[1:] {
		for i, part := range strings.Split(name, "/") {
			if i < len(parts) && parts[i] != part {
				parts[i] = "*"
			}
		}
	}
	return strings.Join(parts, "/")
}

// A bufferCheck is about the buffer of a switch chip for each Tbps: how much it is,
// or which share of it the largest of some queues takes in a switch of other bandwidth.
type bufferCheck struct {
	Model  string   `yaml:"model"`
	Of     []string `yaml:"of"`   // patterns of names, in MB
	Tbps   float64  `yaml:"tbps"` // of the switch with these queues
	Bounds `yaml:",inline"`

	asic ASIC
	of   []string
}

func (c *bufferCheck) prepare() (names []string, err error) {
	var ok bool
	if c.asic, ok = asic(c.Model); !ok {
		return nil, fmt.Errorf("no ASIC is called %q", c.Model)
	}
	if (len(c.Of) > 0) != (c.Tbps > 0) {
		return nil, errors.New("of and tbps go together")
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.of, err = expandAll(c.Of)
	return c.of, err
}

func (c *bufferCheck) evaluate(f figures) outcome {
	if len(c.of) == 0 {
		x := c.asic.MBPerTbps()
		return outcome{c.met(x), fmt.Sprintf("%s MB/Tbps, wanted %s", digits(x), c.Bounds)}
	}
	most := 0.0
	for _, name := range c.of {
		most = max(most, f.of(name))
	}
	buffer := c.asic.MBPerTbps() * c.Tbps
	x := most / buffer
	text := fmt.Sprintf("%s of %s MB: a share of %s, wanted %s", digits(most), digits(buffer), digits(x), c.Bounds)
	return outcome{c.met(x), text}
}
