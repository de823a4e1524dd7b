package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sirdbed/emu"
	"sirdbed/topo"
	"sirdbed/topo/limit"
	"sirdbed/topo/units"
)

// validate finds what is impossible although every value is fine by itself.
func (s *Scenario) validate(dir string) error {
	if err := s.validateFabric(); err != nil {
		return err // nothing else can be checked without one
	}
	var errs Errors
	for _, check := range []func() *Error{
		s.validateTimes,
		s.validateGuests,
		func() *Error { return s.validateTraffic(dir) },
		s.validateApps,
		s.validateProtocols,
		s.validateVariants,
		s.validateCounts,
		s.validateCapture,
		s.validateFaults,
		s.validateHosts,
		s.validateSweep,
	} {
		if err := check(); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		errs = s.validateBounds()
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}

func (s *Scenario) validateFabric() error {
	for _, field := range []string{"leaves", "hosts_per_leaf", "host_rate", "host_delay"} {
		if path := "topology." + field; !s.has(path) {
			l := limit.Topology.Of(field)
			return Errors{s.src.errorIn(path, "missing: want %s: %s", l.Range(), l.Why)}
		}
	}
	fabric, err := topo.New(s.Topology)
	if e, ok := errors.AsType[*topo.SpecError](err); ok {
		return Errors{s.src.errorIn("topology."+e.Field, "%s", e.Reason)}
	} else if err != nil {
		return Errors{s.src.errorIn("topology", "%v", err)}
	}
	s.fabric, s.few = fabric, fabric
	if len(fabric.Hosts) > maxTried {
		t := s.Topology
		t.Leaves, t.HostsPerLeaf, t.Spines, t.Links = min(t.Leaves, 2), min(t.HostsPerLeaf, 2), min(t.Spines, 1), nil
		if s.few, err = topo.New(t); err != nil {
			return Errors{s.src.errorIn("topology", "%v", err)}
		}
	}
	return nil
}

// maxTried is how many hosts a fabric has on which each variant's protocol is tried.
// In larger ones a protocol takes a millisecond to make, and thousands of variants
// seconds: a few hosts with the same links then stand for all.
const maxTried = 1000

func (s *Scenario) validateTimes() *Error {
	if s.Name == "" {
		return s.src.errorIn("name", "missing: a scenario needs a name, which names its results")
	}
	if !nameOK(s.Name) {
		return s.src.errorIn("name", "%q: want small letters, digits, dots and dashes", s.Name)
	}
	if s.Duration <= 0 {
		return s.src.errorIn("duration", "missing: say how long the measured window is, such as 50ms")
	}
	for _, r := range s.runs() {
		if err := lasts(s.experiment(r, Options{})); err != nil {
			return s.src.errorIn("dilation", "%v", err)
		}
	}
	for _, f := range []struct {
		path  string
		value units.Time
	}{{"sample.queues", s.Sample.Queues}, {"sample.gauges", s.Sample.Gauges}} {
		if f.value > s.Duration {
			return s.src.errorIn(f.path, "%v: want 1us to the duration, %v", f.value, s.Duration)
		}
	}
	return nil
}

// lasts reports a run that takes too long by the kernel's clock.
func lasts(x emu.Experiment) error {
	nominal := x.Warmup + x.Duration + x.Drain
	if x.Dilation > 0 && x.Dilation.ToKernel(nominal) > limit.MaxKernelTime {
		return fmt.Errorf("%d times %v of nominal time are more than 31 years: want a smaller dilation, or less time",
			x.Dilation, nominal)
	}
	return nil
}

func (s *Scenario) validateVariants() *Error {
	var streams []string
	for i := range s.Traffic {
		streams = append(streams, s.Traffic[i].Name)
	}
	called := map[string]int{}
	for i, v := range s.Variants {
		path := fmt.Sprintf("variants[%d].", i)
		if !nameOK(v.Name) {
			return s.src.errorIn(path+"name", "%q: want small letters, digits, dots and dashes", v.Name)
		}
		if j, taken := called[v.Name]; taken {
			return s.src.errorIn(path+"name", "variant %d is called %q too", j+1, v.Name)
		}
		called[v.Name] = i
		for j, name := range v.Traffic {
			if !slices.Contains(streams, name) {
				return s.src.errorIn(fmt.Sprintf("%straffic[%d]", path, j), "no stream is called %q: %s", name,
					hintOf(name, streams))
			}
		}
		if err := s.validateLoad(v, path); err != nil {
			return err
		}
	}
	return s.validateLabels()
}

// validateLabels finds two runs of one name, which is that of their results: of a
// variant whose name is another one's with a protocol.
func (s *Scenario) validateLabels() *Error {
	taken := map[string]run{}
	for _, r := range s.runs() {
		if other, ok := taken[r.label]; ok {
			i := slices.IndexFunc(s.Variants, func(v Variant) bool { return v.Name == r.variant.Name })
			return s.src.errorIn(fmt.Sprintf("variants[%d].name", i),
				"with %s its results are called %q, as those of variant %q with %s are", r.protocol, r.label,
				other.variant.Name, other.protocol)
		}
		taken[r.label] = r
	}
	return nil
}

// validateCapture checks the names of nodes and ports, each of which is captured once.
func (s *Scenario) validateCapture() *Error {
	for i, name := range s.Capture {
		path := fmt.Sprintf("capture[%d]", i)
		_, isNode := s.fabric.Node(name)
		port, isPort := s.port(name)
		switch {
		case !isNode && !isPort:
			return s.src.errorIn(path,
				"no node or port is called %q: nodes are such as leaf1 or %s, ports such as %q",
				name, s.fabric.HostName(0), s.fabric.Downlink(0).Name)
		case slices.Contains(s.Capture[:i], name):
			return s.src.errorIn(path, "%s is there twice", name)
		case isPort && slices.Contains(s.Capture, s.fabric.Nodes[port.Node].Name):
			return s.src.errorIn(path, "%s is a port of %s, all of which are captured: leave it out",
				name, s.fabric.Nodes[port.Node].Name)
		}
	}
	return nil
}

// port finds a port by its name, "leaf1>h1-2".
func (s *Scenario) port(name string) (*topo.Port, bool) {
	from, to, _ := strings.Cut(name, ">")
	a, here := s.fabric.Node(from)
	b, there := s.fabric.Node(to)
	if !here || !there {
		return nil, false
	}
	id, ok := s.fabric.PortBetween(a.ID, b.ID)
	if !ok {
		return nil, false
	}
	return &s.fabric.Ports[id], true
}

// nameOK reports whether a name can name a directory of results.
func nameOK(name string) bool {
	for i, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
		case i > 0 && (r == '.' || r == '-' || r == '_'):
		default:
			return false
		}
	}
	return name != ""
}
