package scenarios

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/invopop/jsonschema"

	"sirdbed/baselines/all"
	"sirdbed/topo/units"
)

// Schema returns the JSON schema of scenario files, made from the Go types and
// from the parameters of all protocols.
func Schema() ([]byte, error) {
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
		extra = append(extra, reflect.StructField{
			Name: fmt.Sprintf("Section%d", i), Type: params,
			Tag: reflect.StructTag(fmt.Sprintf(`json:"%s,omitempty" jsonschema_description:"Parameters of %s that differ from its defaults."`, p.Name, p.Name)),
		})
	}
	r := &jsonschema.Reflector{
		Anonymous:      true,
		ExpandedStruct: true,
		Mapper:         unitSchema,
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
	schema := r.Reflect(&Scenario{})
	schema.Title = "sirdbed scenario"
	schema.Description = "A network, its traffic, what runs on it and what is expected of the result."
	for _, name := range sections {
		if def, ok := schema.Definitions[name]; ok {
			def.Required = nil // what is left out keeps its default
		}
	}
	if def, ok := schema.Definitions["Reference"]; ok {
		def.Required = nil // what is left out is as in the bound
	}
	text, err := json.MarshalIndent(schema, "", "  ")
	return append(text, '\n'), err
}

// unitSchema is the schema of types that read their own text.
func unitSchema(t reflect.Type) *jsonschema.Schema {
	quantity := func(units, example string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Pattern: `^(0|[0-9]+(\.[0-9]+)? ?(` + units + `))$`, Examples: []any{example}}
	}
	switch t {
	case reflect.TypeFor[units.Time]():
		return quantity("ns|us|ms|s", "7.5us")
	case reflect.TypeFor[units.BitsPerSecond]():
		return quantity("bps|Kbps|Mbps|Gbps|Tbps", "100Gbps")
	case reflect.TypeFor[units.Bytes]():
		s := quantity("B|KB|MB|GB|KiB|MiB|GiB", "216KB")
		s.Pattern = "^(inf|" + s.Pattern[len("^("):]
		return s
	case reflect.TypeFor[Dilation]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Const: "auto"}, {Type: "integer", Minimum: "1", Maximum: json.Number(fmt.Sprint(int64(units.MaxDilation)))},
		}}
	}
	if t.Kind() == reflect.Float64 && decodesItself(t) { // a number that may be infinite
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number"}, {Const: "inf"}}}
	}
	return nil
}
