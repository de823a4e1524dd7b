package scenarios

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"sirdbed/emu"
	"sirdbed/sirdnode/fault"
	"sirdbed/traffic"
)

// A field is what a key may hold.
type field struct {
	index []int // in its struct, for reflect
	typ   reflect.Type
	enum  []string
}

// fieldTypes lists the keys of a struct.
func fieldTypes(t reflect.Type) map[string]field {
	known := map[string]field{}
	for f := range t.Fields() {
		tag := f.Tag.Get("yaml")
		if tag == "" {
			tag = f.Tag.Get("json")
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "-" || (!f.IsExported() && !f.Anonymous) {
			continue
		}
		if strings.Contains(options, "inline") || (f.Anonymous && name == "") {
			inner := fieldTypes(f.Type)
			for key, in := range inner {
				in.index = slices.Concat(f.Index, in.index)
				inner[key] = in
			}
			maps.Copy(known, inner)
			continue
		}
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		enum := namesOf(f.Type)
		for rule := range strings.SplitSeq(f.Tag.Get("jsonschema"), ",") {
			if value, ok := strings.CutPrefix(rule, "enum="); ok {
				enum = append(enum, value)
			}
		}
		known[name] = field{f.Index, f.Type, enum}
	}
	return known
}

// namesOf lists the values that texts of a type have, nil if it says none itself.
// Other texts have theirs in the tag of a field.
func namesOf(t reflect.Type) []string {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[emu.EngineName]():
		return texts(emu.EngineNames)
	case reflect.TypeFor[traffic.Pattern]():
		return texts(traffic.Patterns)
	case reflect.TypeFor[fault.Kind]():
		return texts(fault.Kinds)
	}
	return nil
}

func texts[T ~string](names []T) []string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return list
}

func firstKey(t reflect.Type) string {
	keys := sortedKeys(fieldTypes(t))
	if len(keys) == 0 {
		return "key"
	}
	return keys[0]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// hint suggests a known key in place of an unknown one.
func hint(key string, known []string) string {
	if s := suggest(key, known); s != "" {
		return s
	}
	return "it may have " + several(known)
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number from 0"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	}
	return fmt.Sprintf("a %s", strings.ToLower(t.Name()))
}

// excerpt is a value, shortened for an error.
func excerpt(n ast.Node) string {
	text := scalar(n)
	switch n.(type) {
	case *ast.MappingNode:
		text = "{...}"
	case *ast.SequenceNode:
		text = "[...]"
	}
	return shortened(text)
}

// shortened is a text as an error shows it.
func shortened(text string) string {
	const most = 40
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}
