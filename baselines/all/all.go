// Package all lists the protocols that a scenario can select, and finds them by
// name.
package all

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sirdbed/baselines/aimd"
	"sirdbed/baselines/dcpim"
	"sirdbed/baselines/dctcp"
	"sirdbed/baselines/homa"
	"sirdbed/baselines/swift"
	"sirdbed/baselines/tcp"
	"sirdbed/baselines/xpass"
	"sirdbed/sirdnode/sird"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
)

// protocols lists every protocol that a scenario can select.
var protocols = append([]transport.Protocol{
	sird.Protocol,
	homa.Protocol,
	dcpim.Protocol,
	xpass.Protocol,
	swift.Protocol,
	dctcp.Protocol,
	aimd.Protocol,
}, tcp.Protocols...)

// List returns every protocol that a scenario can select.
func List() []transport.Protocol { return protocols }

// Find returns the protocol of that name. The error lists the names there are.
func Find(name string) (transport.Protocol, error) {
	var names []string
	for _, p := range protocols {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return transport.Protocol{}, fmt.Errorf("no protocol is called %q: use one of %s", name, strings.Join(names, ", "))
}

// DecodeParams returns the protocol's default parameters for a fabric, changed
// by overrides, a JSON object (nil for none). The text "measured" stands for what the
// default is where credit loops take as long as they took on the machine that carries the
// fabric. Unknown keys are an error.
func DecodeParams(p transport.Protocol, f *topo.Fabric, overrides json.RawMessage) (any, error) {
	params := p.DefaultParams(f)
	if len(overrides) == 0 {
		return params, nil
	}
	overrides, err := resolveMeasured(p, f, overrides)
	if err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", p.Name, err)
	}
	d := json.NewDecoder(bytes.NewReader(overrides))
	d.DisallowUnknownFields()
	if err := d.Decode(params); err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", p.Name, err)
	}
	return params, nil
}
