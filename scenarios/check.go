package scenarios

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sirdbed/emu"
	"sirdbed/traffic"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// maxErrors is how many errors of a file are reported at once.
const maxErrors = 10

// A checker compares a parsed file with the Go type that it is to be decoded
// into, and notes what does not fit. The decoder itself stops at the first
// error and does not know where in the file a wrong unit is.
type checker struct {
	src      *source
	sections map[string]reflect.Type // keys of a Scenario or Variant besides its fields
	errs     Errors
}

func (c *checker) fail(n ast.Node, format string, args ...any) {
	if len(c.errs) < maxErrors {
		c.errs = append(c.errs, c.src.errorAt(n.GetToken(), format, args...))
	}
}

// check compares a node with a type. what names the value in errors.
func (c *checker) check(n ast.Node, t reflect.Type, what string) {
	n = resolve(n)
	switch n.(type) {
	case *ast.AliasNode, *ast.MergeKeyNode:
		c.fail(n, "aliases (*name) are not for scenario files: write the value out")
		return
	case *ast.NullNode:
		c.fail(n, "%s is empty: give it a value or leave it out", what)
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if decodesItself(t) {
		c.leaf(n, t, what)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		c.fields(n, t, what)
	case reflect.Slice, reflect.Array:
		c.items(n, t, what)
	case reflect.Map:
		if m, ok := n.(*ast.MappingNode); ok {
			for _, pair := range m.Values {
				c.check(pair.Value, t.Elem(), keyOf(pair))
			}
		} else {
			c.fail(n, "%s: want keys and values", what)
		}
	case reflect.Interface:
	default:
		c.leaf(n, t, what)
	}
}

func (c *checker) fields(n ast.Node, t reflect.Type, what string) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		c.fail(n, "%s: want keys and values, such as \"%s: ...\"", what, firstKey(t))
		return
	}
	known := fieldTypes(t)
	if t == reflect.TypeFor[Scenario]() || t == reflect.TypeFor[Variant]() {
		for key, section := range c.sections {
			known[key] = field{typ: section}
		}
	}
	for _, pair := range m.Values {
		key := keyOf(pair)
		f, ok := known[key]
		if !ok {
			c.fail(pair.Key, "unknown key %q in %s: %s", key, what, hint(key, known))
			continue
		}
		before := len(c.errs)
		c.check(pair.Value, f.typ, key)
		if len(c.errs) == before && len(f.enum) > 0 {
			c.oneOf(pair.Value, key, f.enum)
		}
	}
}

func (c *checker) items(n ast.Node, t reflect.Type, what string) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		c.fail(n, "%s: want a list, such as [ ... ]", what)
		return
	}
	if t.Kind() == reflect.Array && len(list.Values) != t.Len() {
		c.fail(n, "%s: want %d items, not %d", what, t.Len(), len(list.Values))
		return
	}
	for _, item := range list.Values {
		c.check(item, t.Elem(), strings.TrimSuffix(what, "s")+" item")
	}
}

// leaf decodes a value, to check that it can be decoded.
func (c *checker) leaf(n ast.Node, t reflect.Type, what string) {
	err := yaml.NodeToValue(n, reflect.New(t).Interface(), yaml.Strict(), yaml.UseJSONUnmarshaler())
	if err == nil {
		return
	}
	if _, ok := errors.AsType[yaml.Error](err); ok { // its text names Go types
		c.fail(n, "%s: want %s, not %q", what, kindName(t), excerpt(n))
		return
	}
	message := err.Error()
	if !strings.HasPrefix(message, what+" ") {
		message = what + ": " + message
	}
	c.fail(n, "%s", message)
}

// oneOf checks a value, or each of a list, against those allowed.
func (c *checker) oneOf(n ast.Node, what string, allowed []string) {
	if list, ok := resolve(n).(*ast.SequenceNode); ok {
		for _, item := range list.Values {
			c.oneOf(item, what, allowed)
		}
		return
	}
	value := scalar(resolve(n))
	if slices.Contains(allowed, value) {
		return
	}
	c.fail(n, "%s: %q is not one of %s%s", what, value, strings.Join(allowed, ", "), DidYouMean(value, allowed))
}

// decodesItself reports whether a type reads its own text.
func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return slices.ContainsFunc([]reflect.Type{
		reflect.TypeFor[encoding.TextUnmarshaler](), reflect.TypeFor[yaml.BytesUnmarshaler](),
		reflect.TypeFor[yaml.InterfaceUnmarshaler](), reflect.TypeFor[json.Unmarshaler](),
	}, p.Implements)
}

// A field is what a key may hold.
type field struct {
	typ  reflect.Type
	enum []string
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

// fieldTypes lists the keys of a struct.
func fieldTypes(t reflect.Type) map[string]field {
	known := map[string]field{}
	for f := range t.Fields() {
		tag := f.Tag.Get("yaml")
		if tag == "" {
			tag = f.Tag.Get("json") // as the decoder does
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "-" || (!f.IsExported() && !f.Anonymous) {
			continue
		}
		if strings.Contains(options, "inline") || (f.Anonymous && name == "") {
			maps.Copy(known, fieldTypes(f.Type))
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
		known[name] = field{f.Type, enum}
	}
	return known
}

func firstKey(t reflect.Type) string {
	keys := sortedKeys(fieldTypes(t))
	if len(keys) == 0 {
		return "key"
	}
	return keys[0]
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// hint suggests a known key in place of an unknown one.
func hint[V any](key string, known map[string]V) string {
	keys := sortedKeys(known)
	if s := suggest(key, keys); s != "" {
		return s
	}
	return "it may have " + strings.Join(keys, ", ")
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	}
	return fmt.Sprintf("a %s", strings.ToLower(t.Name()))
}

// excerpt is a value, shortened for an error.
func excerpt(n ast.Node) string {
	text := n.String()
	switch n.(type) {
	case *ast.MappingNode:
		text = "{...}"
	case *ast.SequenceNode:
		text = "[...]"
	}
	if len(text) > 40 {
		text = text[:40] + "..."
	}
	return text
}
