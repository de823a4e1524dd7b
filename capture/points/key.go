package points

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"

	"sirdbed/baselines/all"
	"sirdbed/capture/code"
	"sirdbed/emu"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
)

// An Address is by what a point is found.
type Address struct{ Key, Code string }

// AddressOf returns where the point of an experiment is found, if it is there.
func AddressOf(engine emu.EngineName, x *emu.Experiment) (a Address, err error) {
	p, err := all.Find(x.Protocol)
	if err != nil {
		return a, err
	}
	if a.Key, err = Key(engine, x); err != nil {
		return a, err
	}
	a.Code, err = code.Of(engine, &p)
	return a, err
}

// Key names an experiment on an engine: 16 hexadecimal digits. What scenarios call it does
// not count, nor do parameters that they state and that are the protocol's defaults, so that
// two figures of the paper share what they have in common.
func Key(engine emu.EngineName, x *emu.Experiment) (string, error) {
	plain := *x
	plain.Scenario, plain.Variant = "", ""
	plain.Params = changed(x)
	text, err := json.Marshal(&plain)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(slices.Concat([]byte(engine), []byte{0}, text))
	return hex.EncodeToString(sum[:8]), nil
}

// changed returns an experiment's parameters without those that have the protocol's default, as
// they are where none has, or where that cannot be told.
func changed(x *emu.Experiment) json.RawMessage {
	if len(x.Params) == 0 {
		return x.Params
	}
	var stated map[string]json.RawMessage
	p, err := all.Find(x.Protocol)
	if err != nil || json.Unmarshal(x.Params, &stated) != nil {
		return x.Params
	}
	without, with, err := values(p, x)
	if err != nil {
		return x.Params
	}
	some := false
	for name := range stated {
		if bytes.Equal(without[name], with[name]) {
			delete(stated, name)
			some = true
		}
	}
	if !some {
		return x.Params
	}
	if len(stated) == 0 {
		return nil
	}
	text, err := json.Marshal(stated)
	if err != nil {
		return x.Params
	}
	return text
}

// values are the protocol's defaults for an experiment's fabric, and what the experiment makes of
// them.
func values(p transport.Protocol, x *emu.Experiment) (without, with map[string]json.RawMessage, err error) {
	f, err := fabricOf(x)
	if err != nil {
		return nil, nil, err
	}
	for _, list := range []struct {
		overrides json.RawMessage
		values    *map[string]json.RawMessage
	}{{nil, &without}, {x.Params, &with}} {
		params, err := all.DecodeParams(p, f, list.overrides)
		if err != nil {
			return nil, nil, err
		}
		text, err := json.Marshal(params)
		if err != nil {
			return nil, nil, err
		}
		if err := json.Unmarshal(text, list.values); err != nil {
			return nil, nil, err
		}
	}
	return without, with, nil
}

// fabrics has those of the topologies that fabricOf was asked for: a plan has hundreds of points,
// and a few fabrics.
var fabrics sync.Map

func fabricOf(x *emu.Experiment) (*topo.Fabric, error) {
	text, err := json.Marshal(x.Topology)
	if err != nil {
		return nil, err
	}
	if f, ok := fabrics.Load(string(text)); ok {
		return f.(*topo.Fabric), nil
	}
	f, err := topo.New(x.Topology)
	if err == nil {
		fabrics.Store(string(text), f)
	}
	return f, err
}
