package all

import (
	"slices"
	"testing"

	"sirdbed/sirdnode/wire"
)

// Captures are taken apart by the UDP port: no two protocols share one, nor a
// name. Those of the kernel have none.
func TestNamesAndPortsAreUnique(t *testing.T) {
	names, ports := map[string]bool{}, map[uint16]string{}
	for _, p := range List() {
		if names[p.Name] {
			t.Errorf("two protocols are called %s", p.Name)
		}
		names[p.Name] = true
		if p.Wire.Port == 0 {
			continue
		}
		if other, taken := ports[p.Wire.Port]; taken {
			t.Errorf("port %d belongs to %s and to %s", p.Wire.Port, other, p.Name)
		}
		ports[p.Wire.Port] = p.Name
	}
}

// Captures are read by the tables: whatever travels by a port of its own has one.
func TestEveryHeaderHasATable(t *testing.T) {
	for _, p := range List() {
		if p.Wire.Port == 0 {
			continue
		}
		h := p.Wire.Header
		if h == nil || len(h.Types) == 0 {
			t.Errorf("%s has no table of its headers", p.Name)
			continue
		}
		grants := false
		for _, kind := range h.Types {
			grants = grants || kind.Grant
			for _, role := range []wire.Role{wire.Message, wire.Offset, wire.Length} {
				if kind.Data && !hasRole(h, kind.Value, role) {
					t.Errorf("%s: %s carries payload, and has no field with the role %d", p.Name, kind.Name, role)
				}
			}
			total, totals := hasRole(h, kind.Value, wire.CreditTotal), h.Credit == wire.CreditTotals
			if total && !totals || kind.Grant && total != totals {
				t.Errorf("%s: %s has a total of credit: %v", p.Name, kind.Name, total)
			}
		}
		if grants != (h.Credit != wire.NoCredit) {
			t.Errorf("%s: a type grants credit: %v, with credit of the kind %d", p.Name, grants, h.Credit)
		}
	}
}

func hasRole(h *wire.Header, kind uint8, role wire.Role) bool {
	return slices.ContainsFunc(h.Fields, func(f wire.Field) bool { return f.Role == role && f.In.Has(kind) })
}
