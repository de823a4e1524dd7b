package scenarios

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"sirdbed/baselines/all"
	"sirdbed/topo/limit"
)

// maxErrors is how many errors of a file are reported at once.
const maxErrors = 10

// A decoder fills in a Scenario from a parsed file, in one walk over it, and notes
// what does not fit and what is outside its limits.
type decoder struct {
	src      *source
	sections map[string]section
	errs     Errors
}

func (d *decoder) fail(n ast.Node, format string, args ...any) {
	if len(d.errs) < maxErrors {
		d.errs = append(d.errs, d.src.errorAt(n.GetToken(), format, args...))
	}
}

// value decodes a node. what names it in errors; table has its limit, if it has one,
// by the name of field.
func (d *decoder) value(n ast.Node, v reflect.Value, what string, table limit.Table, field string) {
	n = resolve(n)
	if _, ok := n.(*ast.NullNode); ok {
		d.fail(n, "%s is empty: give it a value or leave it out", what)
		return
	}
	for v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	l, limited := table.Find(field)
	before := len(d.errs)
	switch {
	case v.Type() == reflect.TypeFor[Faults]():
		d.faults(n, v, what)
		return
	case readsItself(v.Type()):
		d.itself(n, v, what)
	case v.Kind() == reflect.Struct:
		d.fields(n, v, what, limits(v.Type()))
		return
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		d.items(n, v, what, table, field)
		return
	default:
		d.scalar(n, v, what, l)
	}
	switch auto := v.Interface().(type) {
	case Dilation:
		if auto == 0 {
			return
		}
	case Guests:
		if auto == AutoGuests {
			return
		}
	}
	if limited && len(d.errs) == before {
		if reason := l.Reason(v); reason != "" {
			d.fail(n, "%s", reason)
		}
	}
}

func (d *decoder) fields(n ast.Node, v reflect.Value, what string, table limit.Table) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		d.fail(n, "%s: want keys and values, such as \"%s: ...\"", what, firstKey(v.Type()))
		return
	}
	known := fieldTypes(v.Type())
	params := Parameters{}
	for _, pair := range m.Values {
		key := keyOf(pair)
		f, isField := known[key]
		s, isSection := d.sections[key]
		switch {
		case isField:
			before := len(d.errs)
			d.value(pair.Value, v.FieldByIndex(f.index), key, table, key)
			if len(d.errs) == before && len(f.enum) > 0 {
				d.oneOf(pair.Value, key, f.enum)
			}
		case isSection && hasSections(v.Type()):
			params[key] = d.section(pair.Value, key, s)
		default:
			names := sortedKeys(known)
			if hasSections(v.Type()) {
				names = slices.Sorted(slices.Values(append(names, sortedKeys(d.sections)...)))
			}
			d.fail(pair.Key, "unknown key %q in %s: %s", excerpt(pair.Key), what, hint(key, names))
		}
	}
	if hasSections(v.Type()) {
		v.FieldByName("Params").Set(reflect.ValueOf(params))
	}
}

// hasSections reports whether a type has a key for each protocol.
func hasSections(t reflect.Type) bool {
	return t == reflect.TypeFor[Scenario]() || t == reflect.TypeFor[Variant]()
}

// section decodes parameters of a protocol, and returns those given as JSON.
func (d *decoder) section(n ast.Node, what string, s section) json.RawMessage {
	n = resolve(n)
	v := reflect.New(s.typ).Elem()
	before := len(d.errs)
	n, measured := d.measured(n, what)
	d.fields(n, v, what, s.limits)
	if len(d.errs) != before {
		return nil
	}
	given := map[string]any{}
	for _, name := range measured {
		given[name] = measuredText
	}
	known := fieldTypes(s.typ)
	for _, pair := range n.(*ast.MappingNode).Values {
		given[keyOf(pair)] = v.FieldByIndex(known[keyOf(pair)].index).Interface()
	}
	text, err := json.Marshal(given)
	if err != nil {
		panic(err) // limits leave no number that JSON has not
	}
	return text
}

// measuredText is the value of a parameter that is to follow from the measured loop.
var measuredText = strings.Trim(all.Measured, `"`)

// measured takes out of a protocol's section the parameters that are to follow from the
// measured loop. It returns the rest, and their names.
func (d *decoder) measured(n ast.Node, protocol string) (ast.Node, []string) {
	m, ok := n.(*ast.MappingNode)
	p, err := all.Find(protocol)
	if !ok || err != nil {
		return n, nil
	}
	var names []string
	rest := *m
	rest.Values = nil
	for _, pair := range m.Values {
		value, key := resolve(pair.Value), keyOf(pair)
		if !isScalar(value) || scalar(value) != measuredText {
			rest.Values = append(rest.Values, pair)
			continue
		}
		follows, err := all.Follows(p, sectionFabric(), key)
		switch {
		case err != nil:
			rest.Values = append(rest.Values, pair) // an unknown key
		case follows:
			names = append(names, key)
		default:
			d.fail(value, "%s: cannot be measured: its default does not follow from the credit loop", key)
		}
	}
	return &rest, names
}

func (d *decoder) items(n ast.Node, v reflect.Value, what string, table limit.Table, field string) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fail(n, "%s: want a list, such as [ ... ]", what)
		return
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(list.Values), len(list.Values)))
	} else if len(list.Values) != v.Len() {
		d.fail(n, "%s: want %d items, not %d", what, v.Len(), len(list.Values))
		return
	}
	if l, ok := table.Find(field); ok {
		if reason := l.Reason(v); reason != "" {
			d.fail(n, "%s", reason)
			return
		}
	}
	for i, item := range list.Values {
		d.value(item, v.Index(i), strings.TrimSuffix(what, "s")+" item", table, field+"[]")
	}
}

// itself decodes a value of a type that reads its own text.
func (d *decoder) itself(n ast.Node, v reflect.Value, what string) {
	if !isScalar(n) {
		d.fail(n, "%s: want %s, not %q", what, kindName(v.Type()), excerpt(n))
		return
	}
	text := scalar(n)
	var err error
	switch into := v.Addr().Interface().(type) {
	case encoding.TextUnmarshaler:
		err = into.UnmarshalText([]byte(text))
	case json.Unmarshaler:
		if _, quoted := number(n); !quoted {
			text = strconv.Quote(strings.TrimPrefix(text, "."))
		}
		err = into.UnmarshalJSON([]byte(text))
	}
	if err == nil {
		return
	}
	message := err.Error()
	if !strings.HasPrefix(message, what+" ") {
		message = what + ": " + message
	}
	d.fail(n, "%s", message)
}

// scalar decodes a value of a type of the language.
func (d *decoder) scalar(n ast.Node, v reflect.Value, what string, l limit.Limit) {
	wrong := func() { d.fail(n, "%s: want %s, not %q", what, kindName(v.Type()), excerpt(n)) }
	if !isScalar(n) {
		wrong()
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(scalar(n))
	case reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			wrong()
			return
		}
		v.SetBool(b.Value)
	case reflect.Float64:
		text, ok := number(n)
		x, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil {
			wrong()
			return
		}
		v.SetFloat(x)
	case reflect.Int, reflect.Uint64:
		text, ok := number(n)
		x, err := strconv.ParseFloat(text, 64) // 1e3 too
		switch {
		case !ok || err != nil || x != math.Trunc(x):
			wrong()
		case math.Abs(x) > limit.MaxSeed || x < 0 && v.CanUint():
			d.fail(n, "%s", l.Outside(text))
		case v.CanUint():
			v.SetUint(uint64(x))
		default:
			v.SetInt(int64(x))
		}
	default:
		panic(fmt.Sprintf("a scenario's field of type %v", v.Type()))
	}
}

var decimal = regexp.MustCompile(`^[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

// number returns the text of a decimal number. YAML has others, which read as
// something else than they look like: 010 is 8, 1_0 is 10.
func number(n ast.Node) (string, bool) {
	t := n.GetToken()
	if t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType || !decimal.MatchString(t.Value) {
		return "", false
	}
	return t.Value, true
}

func isScalar(n ast.Node) bool {
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode,
		*ast.NanNode:
		return true
	}
	return false
}

// oneOf checks a value, or each of a list, against those allowed.
func (d *decoder) oneOf(n ast.Node, what string, allowed []string) {
	if list, ok := n.(*ast.SequenceNode); ok {
		for _, item := range list.Values {
			d.oneOf(item, what, allowed)
		}
		return
	}
	n = resolve(n)
	value := scalar(n)
	if slices.Contains(allowed, value) {
		return
	}
	d.fail(n, "%s: %q is not one of %s%s", what, excerpt(n), strings.Join(allowed, ", "), DidYouMean(value, allowed))
}

// readsItself reports whether a type reads its own text.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) ||
		p.Implements(reflect.TypeFor[json.Unmarshaler]())
}
