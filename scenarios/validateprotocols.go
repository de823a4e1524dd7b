package scenarios

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"sirdbed/baselines/all"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// validateProtocols makes every protocol once with every set of parameters
// that a variant has.
func (s *Scenario) validateProtocols() *Error {
	if len(s.Protocols) > 1 && s.Protocol != "" {
		return s.src.errorIn("protocol", "given beside protocols: want one of the two")
	}
	for i, name := range s.Protocols {
		path := fmt.Sprintf("protocols[%d]", i)
		if s.Protocol != "" {
			path = "protocol"
		}
		if slices.Contains(s.Protocols[:i], name) {
			return s.src.errorIn(path, "%s is there twice", name)
		}
		if err := s.protocolExists(path, name); err != nil {
			return err
		}
		if err := s.validateParams(name, name, s.Params[name]); err != nil {
			return err
		}
	}
	for i, v := range s.Variants {
		path := fmt.Sprintf("variants[%d].", i)
		if v.Protocol != "" {
			if err := s.protocolExists(path+"protocol", v.Protocol); err != nil {
				return err
			}
		}
		for _, name := range sortedKeys(v.Params) {
			if err := s.validateParams(path+name, name, merge(s.Params[name], v.Params[name])); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Scenario) protocolExists(path, name string) *Error {
	if _, err := all.Find(name); err != nil {
		var names []string
		for _, p := range all.List() {
			names = append(names, p.Name)
		}
		return s.src.errorIn(path, "%v%s", err, DidYouMean(name, names))
	}
	return nil
}

// validateParams checks the section at path. Protocols' errors begin with the
// name of the parameter at fault.
func (s *Scenario) validateParams(path, protocol string, overrides []byte) *Error {
	p, err := all.Find(protocol)
	if err != nil {
		return s.src.errorIn(path, "%v", err)
	}
	params, err := all.DecodeParams(p, s.few, overrides)
	if err == nil {
		err = try(p, transport.Env{Fabric: s.few, Sink: discard{}, Rand: rand.New(rand.NewPCG(1, 1))}, params)
	}
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*limit.Error](err); ok {
		return s.src.errorIn(path+"."+e.Field, "%s", e.Reason)
	}
	for word := range strings.FieldsSeq(err.Error()) {
		if at := path + "." + strings.TrimSuffix(word, ":"); s.has(at) {
			path = at
			break
		}
	}
	return s.src.errorIn(path, "%v", err)
}

// try makes a protocol, to check whether its parameters can work.
func try(p transport.Protocol, env transport.Env, params any) error {
	if p.CheckDriver != nil {
		return p.CheckDriver(params)
	}
	_, err := p.New(env, params)
	return err
}

func (s *Scenario) has(path string) bool {
	_, found := s.src.find(path)
	return found
}

// discard is the Sink of a protocol that is made only to check its parameters.
type discard struct{}

func (discard) Data(units.Time, transport.Message, units.Bytes, int, []byte) {}
func (discard) Delivered(units.Time, transport.Message)                      {}
func (discard) Acked(units.Time, transport.Message)                          {}
func (discard) Failed(units.Time, transport.Message, string)                 {}
func (discard) Gauge(string, func() float64)                                 {}
func (discard) Count(*transport.Counter, int)                                {}
