package points

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"sirdbed/baselines/all"
	"sirdbed/capture/code"
	"sirdbed/emu"
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

// changed returns an experiment's parameters without those that have the protocol's default; all of
// them where that cannot be told.
func changed(x *emu.Experiment) json.RawMessage {
	p, err := all.Find(x.Protocol)
	if err != nil || len(x.Params) == 0 {
		return x.Params
	}
	f, err := topo.New(x.Topology)
	if err != nil {
		return x.Params
	}
	params, err := all.ChangedParams(p, f, x.Params)
	if err != nil {
		return x.Params
	}
	return params
}
