// Package dissector writes a dissector for Wireshark, in Lua, from the tables of
// headers that sirdbed itself reads captures by.
package dissector

import (
	_ "embed"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"sirdbed/sirdnode/wire"
)

// engine is the dissector but for the tables, which take the place of placeholder.
//
//go:embed engine.lua
var engine string

const placeholder = "-- PROTOCOLS\n"

// Mark is the first line of every dissector that Write has written.
const Mark = "-- sirdbed dissector\n"

// Write writes the dissector of some protocols. In Wireshark's filters a field has the
// name of its protocol, in lower case, before its own: sird.credit. Beside the fields of
// its table each protocol has type, crc32c, crc32c.status, payload_length and payload, and
// version if there is one.
func Write(w io.Writer, protocols []wire.Protocol) error {
	var tables strings.Builder
	tables.WriteString("local protocols = {\n")
	for i := range protocols {
		table(&tables, &protocols[i])
	}
	tables.WriteString("}\n")
	_, err := io.WriteString(w, strings.Replace(engine, placeholder, tables.String(), 1))
	return err
}

// table writes a protocol as a table of Lua.
func table(b *strings.Builder, p *wire.Protocol) {
	h := p.Header
	fmt.Fprintf(b, "  { name = %s, port = %d, version = %d,\n", quoted(p.Name), p.Port, h.Version)
	b.WriteString("    types = {\n")
	for _, t := range h.Types {
		fmt.Fprintf(b, "      [%d] = { name = %s, len = %d, each = %d, data = %v },\n",
			t.Value, quoted(t.Name), t.Len, t.Each, t.Data)
	}
	b.WriteString("    },\n    fields = {\n")
	for i := range h.Fields {
		f := &h.Fields[i]
		fmt.Fprintf(b, "      { name = %s, at = %d, size = %d, mask = %d, shift = %d, each = %d, flag = %v,\n",
			quoted(f.Name), f.At, f.Bytes(), f.Mask, bits.TrailingZeros8(f.Mask), f.Each, f.Flag())
		fmt.Fprintf(b, "        told = %v, count = %v, types = %s, doc = %s },\n",
			f.Told(), f.Role == wire.Count, types(f.In), quoted(f.Doc))
	}
	b.WriteString("    } },\n")
}

// types writes a set of types, as nil if it has all.
func types(set wire.Types) string {
	if set == 0 {
		return "nil"
	}
	var list []string
	for value := range uint8(16) {
		if set.Has(value) {
			list = append(list, fmt.Sprintf("[%d] = true", value))
		}
	}
	return "{ " + strings.Join(list, ", ") + " }"
}

// quoted writes a text of printable ASCII as Lua does.
func quoted(s string) string { return strconv.QuoteToASCII(s) }
