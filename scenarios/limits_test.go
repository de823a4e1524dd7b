package scenarios

import (
	"reflect"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"sirdbed/topo/units"
)

// Every number, text and list that a file may hold has a limit with a reason, and
// the schema has both.
func TestEveryFieldHasALimit(t *testing.T) {
	s := schema(t)
	all := tables()
	all[reflect.TypeFor[Scenario]()] = scenarioLimits
	for typ, table := range all {
		properties := s.Properties
		if d := definition(s, typ); d != nil {
			properties = d.Properties
		} else if typ != reflect.TypeFor[Scenario]() {
			t.Errorf("%v has no schema", typ)
			continue
		}
		limited := map[string]bool{}
		for name, f := range fieldTypes(typ) {
			for _, path := range needLimits(name, f.typ, len(f.enum) > 0) {
				l, ok := table.Find(path)
				if !ok || l.Why == "" || !(l.Min <= l.Max) {
					t.Errorf("%s of %v has the limit %+v, want one with a reason", path, typ, l)
				}
				limited[path] = true
				if p, ok := properties.Get(name); !ok || !strings.Contains(p.Description, l.Range()+"; "+l.Why) {
					t.Errorf("the schema of %v lacks the limit of %s, %s, and its reason", typ, path, l.Range())
				} else if !hasLimit(p, path, f.typ) {
					t.Errorf("the schema of %s of %v has no minimum and maximum", path, typ)
				}
			}
		}
		for _, l := range table {
			if !limited[l.Field] {
				t.Errorf("%v has no field %s, of which there is a limit", typ, l.Field)
			}
		}
	}
}

// definition finds the schema of a type; nil for that of the whole file.
func definition(s *jsonschema.Schema, t reflect.Type) *jsonschema.Schema {
	for name, section := range sections() {
		if section.typ == t && s.Definitions[name] != nil {
			return s.Definitions[name]
		}
	}
	return s.Definitions[t.Name()]
}

// needLimits lists the paths at which a field of a type must have a limit.
func needLimits(path string, t reflect.Type, enum bool) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Struct:
		return nil
	case reflect.Slice, reflect.Array:
		return append(needLimits(path+"[]", t.Elem(), enum), path)
	case reflect.String:
		if enum {
			return nil
		}
	}
	return []string{path}
}

// hasLimit reports whether a schema states a limit in its own words. It has none for
// quantities with a unit.
func hasLimit(p *jsonschema.Schema, path string, t reflect.Type) bool {
	if strings.HasSuffix(path, "[]") {
		p, t = p.Items, t.Elem()
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[units.Time](), reflect.TypeFor[units.Bytes](), reflect.TypeFor[units.BitsPerSecond]():
		return true
	}
	if len(p.AnyOf) > 0 {
		p = p.AnyOf[0]
	}
	return p.Minimum != "" && p.Maximum != "" || p.MinLength != nil && p.MaxLength != nil ||
		p.MinItems != nil && p.MaxItems != nil
}
