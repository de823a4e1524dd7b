package headertest

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"sirdbed/sirdnode/wire"
)

// Names returns the names of a protocol's types.
func Names[K ~uint8](table *wire.Header) map[K]string {
	names := map[K]string{}
	for _, t := range table.Types {
		names[K(t.Value)] = t.Name
	}
	return names
}

// table expects a table that can be read in one way only.
func (c Codec[H]) table(t *testing.T) {
	named := map[string]*wire.Field{}
	for i := range c.Table.Fields {
		f := &c.Table.Fields[i]
		if f.Doc == "" || f.Mask != 0 && f.Size > 1 {
			t.Errorf("field %s: documentation %q, %d bytes, mask %#x", f.Name, f.Doc, f.Size, f.Mask)
		}
		if other := named[f.Name]; other != nil && (other.Mask != f.Mask || other.Role != f.Role) {
			t.Errorf("two fields %s have the masks %#x and %#x, the roles %d and %d; want them equal", f.Name, f.Mask,
				other.Mask, f.Role, other.Role)
		}
		named[f.Name] = f
	}
	for _, kind := range c.Table.Types {
		names, roles := map[string]bool{}, map[wire.Role]bool{}
		for _, f := range c.Table.Fields {
			if !f.In.Has(kind.Value) {
				continue
			}
			if names[f.Name] || f.Role != wire.NoRole && roles[f.Role] {
				t.Errorf("%s has %s, or its role %d, twice", kind.Name, f.Name, f.Role)
			}
			names[f.Name], roles[f.Role] = true, true
			if end := f.At + f.Bytes(); end > kind.Len+f.Each || f.Each == 0 && end > kind.Len {
				t.Errorf("%s has %s up to byte %d of %d", kind.Name, f.Name, end, kind.Len)
			}
		}
		if kind.Each != 0 && !roles[wire.Count] {
			t.Errorf("%s has something repeated, and no field that counts it", kind.Name)
		}
	}
}

// fields changes each field of a header where the table has it. The protocol must read the new value: something that
// it decoded is another thing then, and equal to the value.
func (c Codec[H]) fields(t *testing.T, b []byte) {
	kind := c.Table.Type(b)
	if n, err := c.Len(b); kind == nil || err != nil || c.Table.Len(kind, b) != n {
		t.Errorf("% x: the table has the type %+v; the header has %d bytes (%v)", b, kind, n, err)
		return
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, v := range c.Table.Values(b) {
		read := 0
		for range 100 {
			changed := append(append([]byte(nil), b...), make([]byte, 64)...)
			mask := v.Mask
			if mask == 0 {
				mask = 0xff
			}
			for i := range v.Bytes() {
				changed[v.At+i] = changed[v.At+i]&^mask | byte(rng.Uint32())&mask
			}
			var before, after H
			if c.Decode(&before, b) != nil || c.Decode(&after, changed) != nil {
				continue // such as more ranges than there can be
			}
			want := value(c.Table, changed, v.Field)
			if value(c.Table, b, v.Field) == want {
				continue
			}
			if !differ(reflect.ValueOf(before), reflect.ValueOf(after), v.Field, want) {
				t.Errorf("%s: %s changed to %d reads as %+v, before it as %+v", kind.Name, v.Name, want, after, before)
				return
			}
			read++
		}
		if read == 0 {
			t.Errorf("%s: %s was never changed: the test tests nothing", kind.Name, v.Name)
		}
	}
}

// value returns the first value of a field, 0 if it is not there.
func value(table *wire.Header, b []byte, f *wire.Field) uint32 {
	for _, v := range table.Values(b) {
		if v.Field == f {
			return v.N
		}
	}
	return 0
}

// differ reports whether something in two decoded headers differs, and is the value of a field in the second.
func differ(before, after reflect.Value, f *wire.Field, want uint32) bool {
	switch before.Kind() {
	case reflect.Struct:
		for i := range before.NumField() {
			if differ(before.Field(i), after.Field(i), f, want) {
				return true
			}
		}
	case reflect.Array:
		for i := range before.Len() {
			if differ(before.Index(i), after.Index(i), f, want) {
				return true
			}
		}
	case reflect.Bool:
		return before.Bool() != after.Bool() && after.Bool() == (want == 1)
	case reflect.Int:
		return before.Int() != after.Int() && after.Int() == int64(want)
	default:
		a, b := before.Uint(), after.Uint()
		return a != b && (b == uint64(want) || f.Flag() && a^b == uint64(f.Mask))
	}
	return false
}
