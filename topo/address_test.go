package topo

import (
	"net"
	"net/netip"
	"testing"
)

// Addresses read, and prefixes match, as those of the standard library do.
func TestAddressesAreThoseOfTheLibrary(t *testing.T) {
	for _, a := range []Addr{{}, {10, 0, 1, 2}, {10, 250, 249, 250}, {255, 255, 255, 255}} {
		if got, want := a.String(), netip.AddrFrom4(a).String(); got != want {
			t.Errorf("address %s, want %s", got, want)
		}
		for bits := range 33 {
			library := netip.PrefixFrom(netip.AddrFrom4(a), bits).Masked()
			p := Prefix{library.Addr().As4(), bits}
			if got, want := p.String(), library.String(); got != want {
				t.Errorf("prefix %s, want %s", got, want)
			}
			for bit := range 32 {
				b := a
				b[bit/8] ^= 0x80 >> (bit % 8)
				if got, want := p.Contains(b), library.Contains(netip.AddrFrom4(b)); got != want {
					t.Errorf("%v contains %v: %v, want %v", p, b, got, want)
				}
			}
			if !p.Contains(a) {
				t.Errorf("%v does not contain %v", p, a)
			}
		}
	}
	m := MAC{2, 0, 10, 0xfe, 1, 0xab}
	if got, want := m.String(), net.HardwareAddr(m[:]).String(); got != want {
		t.Errorf("MAC %s, want %s", got, want)
	}
	if got, err := ParseMAC(m.String()); got != m || err != nil {
		t.Errorf("%v is read as %v, %v", m, got, err)
	}
	for _, text := range []string{
		"", "02:00:0a:fe:01", "02:00:0a:fe:01:ab:cd", "02-00-0a-fe-01-ab", "02:00:0a:fe:01:ag",
		"02:00:0a:fe:01:+a", "2:00:0a:fe:01:ab:", "02:00:0a:fe:01:ä",
	} {
		if got, err := ParseMAC(text); err == nil {
			t.Errorf("%q is read as %v, want an error", text, got)
		}
	}
}
