package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sirdbed/topo"
	"sirdbed/topo/limit"
)

//go:embed *.yaml paper/*.yaml
var embedded embed.FS

// Names lists the scenarios that are in the binary. Those of the paper's evaluation are
// called paper/NAME.
func Names() (names []string) {
	for _, pattern := range []string{"*.yaml", "paper/*.yaml"} {
		files, _ := fs.Glob(embedded, pattern)
		for _, f := range files {
			names = append(names, strings.TrimSuffix(f, ".yaml"))
		}
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

// Load reads a scenario: a file, or by name one that is in the binary, which a directory of
// that name does not hide. The error is an Errors unless the file cannot be read.
func Load(path string, changes ...Change) (*Scenario, error) {
	text, err := limit.ScenarioFile.Read(path)
	if err == nil {
		return Parse(path, filepath.Dir(path), text, changes...)
	}
	missing := errors.Is(err, fs.ErrNotExist)
	if info, e := os.Stat(path); !missing && (e != nil || !info.IsDir()) {
		return nil, err
	}
	name := strings.TrimSuffix(path, ".yaml")
	switch {
	case slices.Contains(Names(), name):
		return LoadBuiltIn(name, changes...)
	case missing:
		return nil, fmt.Errorf("no scenario: %s is neither a file nor one of the scenarios in the binary (%s)%s",
			path, strings.Join(Names(), ", "), DidYouMean(name, Names()))
	}
	return nil, err
}

// LoadBuiltIn reads a scenario that is in the binary, one of Names, whatever files there are.
func LoadBuiltIn(name string, changes ...Change) (*Scenario, error) {
	text, err := embedded.ReadFile(name + ".yaml")
	if err != nil {
		return nil, err
	}
	return Parse("scenarios/"+name+".yaml", filepath.Dir(name), text, changes...)
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
	s := &Scenario{src: src}
	d := &decoder{src: src, sections: sections()}
	d.fields(src.root, reflect.ValueOf(s).Elem(), "the scenario", scenarioLimits)
	if len(d.errs) > 0 {
		return nil, d.errs
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
