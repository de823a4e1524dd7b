package all

import "testing"

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
