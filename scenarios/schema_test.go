package scenarios

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"sirdbed/baselines/all"
	"sirdbed/capture/metric"
	"sirdbed/emu"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

var update = flag.Bool("update", false, "write schema.json anew")

// schema.json is made from the Go types, from the comments of their fields, from
// the parameters of all protocols and from the table of metrics.
func TestSchemaIsFresh(t *testing.T) {
	want, err := json.MarshalIndent(schema(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile("schema.json", want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("schema.json"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("schema.json is not that of the Go types: run go test ./scenarios -update (%v)", err)
	}
}

// Every key that a scenario file may have is described.
func TestEveryKeyIsDescribed(t *testing.T) {
	s := schema(t)
	check := func(name string, s *jsonschema.Schema) {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			if p.Value.Description == "" {
				t.Errorf("%s of %s has no description", p.Key, name)
			}
		}
	}
	check("the scenario", s)
	for name, definition := range s.Definitions {
		if name != "Metric" { // a condition on other keys, without any of its own
			check(name, definition)
		}
	}
}

// schema makes the JSON schema of scenario files.
func schema(t *testing.T) *jsonschema.Schema {
	f := sectionFabric()
	sections := map[reflect.Type]string{} // parameter type to protocol
	var extra []reflect.StructField
	for i, p := range all.List() {
		params := reflect.TypeOf(p.DefaultParams(f))
		for params.Kind() == reflect.Pointer {
			params = params.Elem()
		}
		if _, ok := sections[params]; !ok { // the first of several that share them
			sections[params] = p.Name
		}
		description := fmt.Sprintf("Parameters of %s that differ from its defaults.", p.Name)
		extra = append(extra, reflect.StructField{
			Name: fmt.Sprintf("Section%d", i), Type: params,
			Tag: reflect.StructTag(fmt.Sprintf(`json:"%s,omitempty" jsonschema_description:%q`, p.Name, description)),
		})
	}
	r := &jsonschema.Reflector{
		Anonymous:      true,
		ExpandedStruct: true,
		Mapper:         typeSchema,
		LookupComment:  fieldComments(t),
		Namer: func(t reflect.Type) string {
			if protocol, ok := sections[t]; ok {
				return protocol
			}
			return t.Name()
		},
		AdditionalFields: func(t reflect.Type) []reflect.StructField {
			if t == reflect.TypeFor[Scenario]() || t == reflect.TypeFor[Variant]() {
				return extra
			}
			return nil
		},
	}
	s := r.Reflect(&Scenario{})
	parts := *r // of Faults, which has two forms
	parts.ExpandedStruct = false
	for _, part := range []any{&fault.Config{}, &fault.Event{}} {
		maps.Copy(s.Definitions, parts.Reflect(part).Definitions)
	}
	s.Title = "sirdbed scenario"
	s.Description = "A network, its traffic, what runs on it and what is expected of the result."
	for _, name := range sections {
		if def, ok := s.Definitions[name]; ok {
			def.Required = nil // what is left out keeps its default
		}
	}
	s.Definitions["Reference"].Required = nil // what is left out is as in the bound
	for _, name := range []string{"Bound", "Reference"} {
		describeMetric(s.Definitions[name])
	}
	s.Definitions["Metric"] = metricSchema()
	limitFields(s, scenarioLimits)
	for t, table := range tables() {
		if d, ok := s.Definitions[r.Namer(t)]; ok {
			limitFields(d, table)
		}
	}
	for _, p := range all.List() {
		if d, ok := s.Definitions[p.Name]; ok {
			alsoMeasured(t, d, p)
		}
	}
	return s
}

// alsoMeasured lets parameters that follow from the credit loop be measured.
func alsoMeasured(t *testing.T, d *jsonschema.Schema, p transport.Protocol) {
	for pair := d.Properties.Oldest(); pair != nil; pair = pair.Next() {
		follows, err := all.Follows(p, sectionFabric(), pair.Key)
		if err != nil {
			t.Fatal(err)
		}
		if !follows {
			continue
		}
		given := *pair.Value
		given.Description = ""
		pair.Value = &jsonschema.Schema{
			AnyOf: []*jsonschema.Schema{&given, {Const: measuredText}},
			Description: pair.Value.Description +
				" measured: as for the credit loop that hosts find at the start of a run (engine real).",
		}
	}
}

// tables are the limits of all types but Scenario that a file has.
func tables() map[reflect.Type]limit.Table {
	list := map[reflect.Type]limit.Table{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[Variant](), reflect.TypeFor[Sample](), reflect.TypeFor[Bound](), reflect.TypeFor[Reference](),
		reflect.TypeFor[topo.Spec](), reflect.TypeFor[topo.LinkOverride](), reflect.TypeFor[traffic.Stream](),
		reflect.TypeFor[fault.Config](), reflect.TypeFor[fault.Event](), reflect.TypeFor[emu.HostSpec](),
		reflect.TypeFor[emu.App](),
	} {
		list[t] = limits(t)
	}
	for _, s := range sections() {
		list[s.typ] = s.limits
	}
	return list
}

// limitFields puts the limits of fields into the schema of what has them, each with
// its reason.
func limitFields(s *jsonschema.Schema, table limit.Table) {
	for _, l := range table {
		p, ok := s.Properties.Get(strings.TrimSuffix(l.Field, "[]"))
		if !ok {
			continue
		}
		if strings.HasSuffix(l.Field, "[]") {
			limitSchema(p.Items, l)
			p.Description += fmt.Sprintf(" Each: %s; %s.", l.Range(), l.Why)
		} else {
			limitSchema(p, l)
			p.Description += fmt.Sprintf(" Limits: %s; %s.", l.Range(), l.Why)
		}
	}
}

// limitSchema puts a limit into a schema as far as JSON Schema knows it: not of
// quantities with a unit.
func limitSchema(p *jsonschema.Schema, l limit.Limit) {
	number := func(x float64) json.Number { return json.Number(strconv.FormatFloat(x, 'f', -1, 64)) }
	count := func(x float64) *uint64 { n := uint64(x); return &n }
	switch {
	case len(p.AnyOf) > 0:
		limitSchema(p.AnyOf[0], l)
	case p.Type == "integer" || p.Type == "number":
		p.Minimum, p.Maximum = number(l.Min), number(l.Max)
	case p.Type == "array":
		p.MinItems, p.MaxItems = count(l.Min), count(l.Max)
	case p.Type == "string" && len(p.Examples) == 0: // quantities have one
		p.MinLength, p.MaxLength = count(l.Min), count(l.Max)
	}
}

// fieldComments finds the comments of fields, which describe them where their
// tags do not.
func fieldComments(t *testing.T) func(reflect.Type, string) string {
	t.Chdir("..")
	r := &jsonschema.Reflector{}
	for _, dir := range []string{
		"scenarios", "topo", "traffic", "sirdnode/fault", "sirdnode/sird", "baselines", "emu",
	} {
		if err := r.AddGoComments("sirdbed", "./"+dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir("scenarios")
	return func(t reflect.Type, field string) string {
		if field == "" {
			return "" // comments of types are for readers of the code
		}
		text := r.CommentMap[t.PkgPath()+"."+t.Name()+"."+field]
		return strings.ReplaceAll(text, "\n", " ")
	}
}

// describeMetric describes the fields of a metric in what has one, and asks that
// they fit together.
func describeMetric(s *jsonschema.Schema) {
	name, _ := s.Properties.Get("metric")
	name.Description = "What is measured."
	for _, n := range metric.Names() {
		name.Enum = append(name.Enum, n)
	}
	for _, f := range metric.Fields {
		property, _ := s.Properties.Get(f.Name)
		property.Description = f.Doc
		for _, value := range f.Values {
			property.Enum = append(property.Enum, value)
		}
	}
	s.AllOf = []*jsonschema.Schema{{Ref: "#/$defs/Metric"}}
}

// metricSchema says of each metric which fields and statistics it takes.
func metricSchema() *jsonschema.Schema {
	all := &jsonschema.Schema{}
	for _, d := range metric.Descriptors() {
		is, takes := jsonschema.NewProperties(), jsonschema.NewProperties()
		is.Set("metric", &jsonschema.Schema{Const: d.Name, Description: d.Doc})
		for _, f := range metric.Fields {
			switch {
			case !d.Takes(f.Name):
				takes.Set(f.Name, jsonschema.FalseSchema)
			case f.Name == "stat":
				stat := &jsonschema.Schema{}
				for _, s := range d.Stats {
					stat.Enum = append(stat.Enum, s)
				}
				takes.Set(f.Name, stat)
			}
		}
		then := &jsonschema.Schema{Properties: takes}
		for _, field := range d.Needs {
			then.AnyOf = append(then.AnyOf, &jsonschema.Schema{Required: []string{field}})
		}
		for i, field := range d.Either {
			for _, other := range d.Either[i+1:] {
				both := &jsonschema.Schema{Required: []string{field, other}}
				then.AllOf = append(then.AllOf, &jsonschema.Schema{Not: both})
			}
		}
		if len(d.Stats) > 0 && d.Default == "" {
			then.Required = []string{"stat"}
		}
		all.AllOf = append(all.AllOf, &jsonschema.Schema{
			If: &jsonschema.Schema{Properties: is, Required: []string{"metric"}}, Then: then,
		})
	}
	return all
}

// typeSchema is the schema of types that read their own text, or have names for
// their values.
func typeSchema(t reflect.Type) *jsonschema.Schema {
	quantity := func(units, example string) *jsonschema.Schema {
		return &jsonschema.Schema{
			Type: "string", Pattern: `^(0|[0-9]+(\.[0-9]+)? ?(` + units + `))$`, Examples: []any{example},
		}
	}
	if names := namesOf(t); names != nil && t.Kind() == reflect.String {
		s := &jsonschema.Schema{Type: "string"}
		for _, n := range names {
			s.Enum = append(s.Enum, n)
		}
		return s
	}
	switch t {
	case reflect.TypeFor[Faults]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Ref: "#/$defs/Config"}, {Type: "array", Items: &jsonschema.Schema{Ref: "#/$defs/Event"}},
		}}
	case reflect.TypeFor[units.Time]():
		return quantity("ns|us|ms|s", "7.5us")
	case reflect.TypeFor[units.BitsPerSecond]():
		return quantity("bps|Kbps|Mbps|Gbps|Tbps", "100Gbps")
	case reflect.TypeFor[units.Bytes]():
		s := quantity("B|KB|MB|GB|KiB|MiB|GiB", "216KB")
		s.Pattern = "^(inf|" + s.Pattern[len("^("):]
		return s
	case reflect.TypeFor[Dilation](), reflect.TypeFor[Guests]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "integer"}, {Const: "auto"}}}
	}
	if t.Kind() == reflect.Float64 && readsItself(t) { // a number that may be infinite
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number"}, {Const: "inf"}}}
	}
	return nil
}
