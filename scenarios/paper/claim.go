package paper

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

//go:embed data/claims.yaml
var claimsYAML []byte

// A Claim is a statement of the paper's, in words of our own, and how it is
// checked.
type Claim struct {
	ID        string   `yaml:"id" json:"id"`
	Source    string   `yaml:"source" json:"source"` // sections and figures
	Statement string   `yaml:"statement" json:"statement"`
	Note      string   `yaml:"note" json:"note,omitempty"`     // how the words are read, and what is doubtful
	Stated    []string `yaml:"stated" json:"stated,omitempty"` // ids of the numbers that it has
	// Why it is not testable here; else it has checks, all of which it has to pass.
	NotTestable string         `yaml:"not_testable" json:"not_testable,omitempty"`
	Checks      []claimedCheck `yaml:"checks" json:"-"`
}

// A check is one way to check a claim, with its arguments.
type check interface {
	// prepare checks the arguments, and returns the names of the cells and quantities that the check reads.
	prepare() ([]string, error)
	// evaluate is called with all of those that prepare named.
	evaluate(figures) outcome
}

// checks are the kinds of checks, by the name that claims have them by.
var checks = map[string]func() check{
	"figure":      func() check { return new(figureCheck) },
	"means":       func() check { return new(meansCheck) },
	"steps":       func() check { return new(stepsCheck) },
	"alike":       func() check { return new(alikeCheck) },
	"buffer":      func() check { return new(bufferCheck) },
	"near_ideal":  func() check { return new(nearIdealCheck) },
	"best":        func() check { return new(bestCheck) },
	"range":       func() check { return new(rangeCheck) },
	"same_orders": func() check { return new(sameOrdersCheck) },
}

// A claimedCheck is a check of a claim, ready to be made.
type claimedCheck struct {
	check check
	needs []string
}

// UnmarshalYAML reads the name of a check and its arguments.
func (c *claimedCheck) UnmarshalYAML(node ast.Node) error {
	m, ok := node.(*ast.MappingNode)
	if !ok || len(m.Values) != 1 {
		return errors.New("a check is one name with its arguments")
	}
	name := m.Values[0].Key.String()
	make, ok := checks[name]
	if !ok {
		return fmt.Errorf("no check is called %q: use one of %q", name, slices.Sorted(maps.Keys(checks)))
	}
	c.check = make()
	if err := yaml.NodeToValue(m.Values[0].Value, c.check, yaml.Strict()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	needs, err := c.check.prepare()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, n := range needs {
		if err := checkQuantity(n); err != nil {
			return fmt.Errorf("%s: quantity %q: %w", name, n, err)
		}
	}
	c.needs = needs
	return nil
}

var claims = sync.OnceValue(func() []Claim {
	list, err := readClaims(claimsYAML)
	if err != nil {
		panic(fmt.Sprintf("claims.yaml: %v", err)) // a mistake of ours
	}
	return list
})

// readClaims reads a list of claims, strictly.
func readClaims(text []byte) ([]Claim, error) {
	var list []Claim
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&list); err != nil && err != io.EOF {
		return nil, err
	}
	seen := map[string]bool{}
	for i, c := range list {
		switch {
		case c.ID == "" || c.Source == "" || c.Statement == "":
			return nil, fmt.Errorf("claim %d (%q) needs id, source and statement", i+1, c.ID)
		case seen[c.ID]:
			return nil, fmt.Errorf("two claims are called %q", c.ID)
		case (len(c.Checks) > 0) == (c.NotTestable != ""):
			return nil, fmt.Errorf("%s: a claim has either checks or a reason not to be testable", c.ID)
		}
		seen[c.ID] = true
		for _, id := range c.Stated {
			if _, ok := value(id); !ok {
				return nil, fmt.Errorf("%s: no stated number is called %q", c.ID, id)
			}
		}
	}
	return list, nil
}

// Wanted returns the names of all quantities that claims need besides the cells of
// tables, sorted.
func Wanted() []string {
	names := map[string]bool{}
	for _, c := range claims() {
		for _, check := range c.Checks {
			for _, n := range check.needs {
				if _, ok := cellNamed(n); !ok {
					names[Canonical(n)] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
