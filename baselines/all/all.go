// Package all lists the protocols that a scenario can select, and finds them by
// name.
package all

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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

// ChangedParams returns overrides, a JSON object, without those that are the protocol's defaults for
// a fabric; nil if none is left. Its error is DecodeParams's.
func ChangedParams(p transport.Protocol, f *topo.Fabric, overrides json.RawMessage) (json.RawMessage, error) {
	params, err := DecodeParams(p, f, overrides)
	if err != nil || len(overrides) == 0 {
		return nil, err
	}
	defaults, err := values(p, f)
	if err != nil {
		return nil, err
	}
	with, err := named(params)
	if err != nil {
		return nil, err
	}
	var stated map[string]json.RawMessage
	if err := json.Unmarshal(overrides, &stated); err != nil {
		return nil, err
	}
	before := len(stated)
	maps.DeleteFunc(stated, func(name string, _ json.RawMessage) bool {
		return bytes.Equal(defaults[name], with[name])
	})
	switch len(stated) {
	case before:
		return overrides, nil // as they are written
	case 0:
		return nil, nil
	}
	return json.Marshal(stated)
}
