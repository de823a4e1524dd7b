package scenarios

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"sirdbed/baselines/all"
	"sirdbed/topo"
)

//go:embed *.yaml
var embedded embed.FS

// Names lists the scenarios that are in the binary.
func Names() (names []string) {
	files, _ := fs.Glob(embedded, "*.yaml")
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f, ".yaml"))
	}
	slices.Sort(names)
	return names
}

// A Change sets what is at Path of a scenario ("sird.sthr") to Value, a piece of
// YAML. Path leads through lists by index or by name
// ("variants.rr.sird.receiver_policy", "traffic[0].size").
type Change struct{ Path, Value string }

// ParseChange reads "path=value".
func ParseChange(text string) (Change, error) {
	path, value, ok := strings.Cut(text, "=")
	if !ok || path == "" || value == "" {
		return Change{}, fmt.Errorf("--set %s: want path=value, such as sird.sthr=inf", text)
	}
	return Change{path, value}, nil
}

// Load reads a scenario: a file, or by name one that is in the binary. The
// error is an Errors unless the file cannot be read.
func Load(path string, changes ...Change) (*Scenario, error) {
	text, err := os.ReadFile(path)
	dir := filepath.Dir(path)
	if errors.Is(err, fs.ErrNotExist) {
		if name := strings.TrimSuffix(path, ".yaml"); slices.Contains(Names(), name) {
			path = "scenarios/" + name + ".yaml"
			text, err = embedded.ReadFile(name + ".yaml")
		} else {
			return nil, fmt.Errorf("no scenario: %s is neither a file nor one of the scenarios in the binary (%s)%s",
				path, strings.Join(Names(), ", "), DidYouMean(name, Names()))
		}
	}
	if err != nil {
		return nil, err
	}
	return Parse(path, dir, text, changes...)
}

// Parse reads a scenario from text. file is what errors call it, dir where the
// files that it names are.
func Parse(file, dir string, text []byte, changes ...Change) (*Scenario, error) {
	src, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if err := src.assign(c.Path, c.Value); err != nil {
			return nil, err
		}
	}
	sections := map[string]reflect.Type{}
	for _, p := range all.List() {
		sections[p.Name] = reflect.TypeOf(p.DefaultParams(sectionFabric()))
	}
	c := &checker{src: src, sections: sections}
	c.check(src.root, reflect.TypeFor[Scenario](), "the scenario")
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	s, err := decode(src, sections)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		s.Set = append(s.Set, c.Path+"="+c.Value)
	}
	s.setDefaults()
	if err := s.validate(dir); err != nil {
		return nil, err
	}
	return s, nil
}

// sectionFabric is any fabric: the type of a protocol's parameters does not
// depend on it.
func sectionFabric() *topo.Fabric {
	f, err := topo.New(topo.Spec{Leaves: 1, HostsPerLeaf: 2, HostRate: 1e11})
	if err != nil {
		panic(err)
	}
	return f
}

// decode fills in a Scenario from a file that check has accepted.
func decode(src *source, sections map[string]reflect.Type) (*Scenario, error) {
	s := &Scenario{src: src}
	params, rest := split(src.root, sections)
	s.Params = params
	var perVariant []Parameters
	for i, pair := range rest.Values {
		list, ok := resolve(pair.Value).(*ast.SequenceNode)
		if !ok || keyOf(pair) != "variants" {
			continue
		}
		bare := &ast.SequenceNode{BaseNode: &ast.BaseNode{}, Start: list.Start, IsFlowStyle: list.IsFlowStyle}
		for _, item := range list.Values {
			params, rest := split(resolve(item).(*ast.MappingNode), sections)
			perVariant = append(perVariant, params)
			bare.Values = append(bare.Values, rest)
		}
		rest.Values[i] = &ast.MappingValueNode{BaseNode: &ast.BaseNode{}, Start: pair.Start, Key: pair.Key, Value: bare}
	}
	if err := yaml.NodeToValue(rest, s, yaml.Strict(), yaml.UseJSONUnmarshaler()); err != nil {
		if e, ok := errors.AsType[yaml.Error](err); ok {
			return nil, Errors{src.errorAt(e.GetToken(), "%s", e.GetMessage())}
		}
		return nil, Errors{src.errorAt(nil, "%v", err)}
	}
	for i := range s.Variants {
		s.Variants[i].Params = perVariant[i]
	}
	return s, nil
}

// split separates the protocols' sections of a mapping from the rest of it.
func split(m *ast.MappingNode, sections map[string]reflect.Type) (Parameters, *ast.MappingNode) {
	params := Parameters{}
	rest := ast.Mapping(m.Start, m.IsFlowStyle)
	for _, pair := range m.Values {
		if _, ok := sections[keyOf(pair)]; ok {
			params[keyOf(pair)] = asJSON(pair.Value)
		} else {
			rest.Values = append(rest.Values, pair)
		}
	}
	return params, rest
}

// asJSON turns a checked section to JSON.
func asJSON(n ast.Node) json.RawMessage {
	var value any
	if err := yaml.NodeToValue(n, &value); err != nil {
		panic(err)
	}
	text, err := json.Marshal(finite(value))
	if err != nil {
		panic(err)
	}
	return text
}

// finite writes infinity as "inf", since JSON has none.
func finite(value any) any {
	switch v := value.(type) {
	case float64:
		if math.IsInf(v, 1) {
			return "inf"
		}
	case map[string]any:
		for key, inner := range v {
			v[key] = finite(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = finite(inner)
		}
	}
	return value
}
