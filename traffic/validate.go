package traffic

import (
	"errors"
	"fmt"
	"slices"

	"sirdbed/topo"
	"sirdbed/topo/limit"
)

// MaxSize is the largest message or reply.
const MaxSize = limit.MaxMessage

// A FieldError names a field of a Stream that is impossible, and the reason.
type FieldError struct {
	Field  string // path in the scenario file, such as "rate" or "traffic[2].to[0]"
	Reason string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Reason }

func fieldError(field, format string, args ...any) error {
	return &FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// Validate reports the first impossible field of a scenario's streams as a
// *FieldError, with "traffic[i]." in front of the field.
func Validate(f *topo.Fabric, streams []Stream) error {
	if len(streams) > limit.MaxStreams {
		return fieldError("traffic", "%d streams: at most %d can be told apart", len(streams), limit.MaxStreams)
	}
	called := map[string]int{}
	for i := range streams {
		if err := streams[i].Validate(f); err != nil {
			return within(i, err)
		}
		if j, taken := called[streams[i].Name]; taken {
			return within(i, fieldError("name", "stream %d is called %q too", j+1, streams[i].Name))
		}
		called[streams[i].Name] = i
	}
	return nil
}

// within puts the path of stream i in front of a FieldError.
func within(i int, err error) error {
	if e, ok := errors.AsType[*FieldError](err); ok {
		return &FieldError{fmt.Sprintf("traffic[%d].%s", i, e.Field), e.Reason}
	}
	return fmt.Errorf("traffic[%d]: %w", i, err)
}

// use lists the patterns that use a field; all use those not listed.
var use = map[string][]Pattern{
	"from":        {PatternPoisson, PatternFixed, PatternIncast, PatternOutcast},
	"to":          {PatternPoisson, PatternFixed, PatternIncast, PatternOutcast},
	"rate":        {PatternPoisson, PatternFixed},
	"load":        {PatternPoisson, PatternFixed, PatternIncast},
	"interval":    {PatternFixed, PatternIncast},
	"overload":    {PatternPoisson, PatternFixed, PatternIncast},
	"size":        {PatternPoisson, PatternFixed, PatternIncast, PatternOutcast},
	"sizes":       {PatternPoisson},
	"sampling":    {PatternPoisson},
	"arrivals":    {PatternPoisson},
	"phase":       {PatternFixed},
	"fan_in":      {PatternIncast},
	"outstanding": {PatternOutcast},
	"stagger":     {PatternOutcast},
	"file":        {PatternList},
}

// given lists the fields of use that the stream has, in the order of Stream.
func (s *Stream) given() (fields []string) {
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"from", len(s.From) > 0}, {"to", len(s.To) > 0}, {"rate", s.Rate != 0}, {"load", s.Load != 0},
		{"interval", s.Interval != 0}, {"overload", s.Overload}, {"size", s.Size != 0}, {"sizes", s.Sizes != ""},
		{"sampling", s.Sampling != ""}, {"arrivals", s.Arrivals != ""}, {"phase", s.Phase != ""},
		{"fan_in", s.FanIn != 0},
		{"outstanding", s.Outstanding != 0}, {"stagger", s.Stagger != 0}, {"file", s.File != "" || len(s.Messages) > 0},
	} {
		if f.set {
			fields = append(fields, f.name)
		}
	}
	return fields
}

// Validate reports the first impossible field as a *FieldError. A field that
// the pattern does not use is impossible. A list must have been loaded.
func (s *Stream) Validate(f *topo.Fabric) error {
	if s.Name == ProgramsName {
		return fieldError("name", "%q is what messages of programs are called: take another", s.Name)
	}
	if s.Name == "" {
		return fieldError("name", "missing: every stream needs a name of its own")
	}
	check, ok := map[Pattern]func(*topo.Fabric) error{
		PatternPoisson: s.validatePoisson, PatternFixed: s.validateFixed, PatternIncast: s.validateIncast,
		PatternOutcast: s.validateOutcast, PatternList: s.validateList,
	}[s.Pattern]
	if !ok {
		return fieldError("pattern", "%q: want poisson, fixed, incast, outcast or list", s.Pattern)
	}
	for _, field := range s.given() {
		if users := use[field]; !slices.Contains(users, s.Pattern) {
			return fieldError(field, "a stream of pattern %s does not use it; %v does", s.Pattern, users)
		}
	}
	if err := s.validateCommon(); err != nil {
		return err
	}
	if s.Pattern != PatternList {
		if err := s.validateHosts(f); err != nil {
			return err
		}
	}
	return check(f)
}

func (s *Stream) validateCommon() error {
	if e, ok := errors.AsType[*limit.Error](limit.Stream.Check(s)); ok {
		return &FieldError{e.Field, e.Reason}
	}
	if s.Stop != 0 && s.Stop <= s.Start {
		return fieldError("stop", "%v is not after start, %v", s.Stop, s.Start)
	}
	switch s.Latency {
	case "", LatencyRoundTrip, LatencyRequest:
	default:
		return fieldError("latency", "%q: want %s or %s", s.Latency, LatencyRoundTrip, LatencyRequest)
	}
	if s.Latency != "" && s.Reply == 0 && s.Pattern != PatternList {
		return fieldError("latency", "%q: only messages with a reply have a choice; leave it out, or give reply a size",
			s.Latency)
	}
	return nil
}

// validateHosts checks that all names are those of hosts and that every sender
// has someone to send to.
func (s *Stream) validateHosts(f *topo.Fabric) error {
	if _, err := hosts(f, "from", s.From); err != nil {
		return err
	}
	if _, err := hosts(f, "to", s.To); err != nil {
		return err
	}
	if from, to := s.ends(f); len(to) == 1 && slices.Contains(from, to[0]) {
		return fieldError("to", "%s, one of the senders, has only itself to send to", f.HostName(to[0]))
	}
	return nil
}

// hosts resolves the names of a field, all hosts if there are none.
func hosts(f *topo.Fabric, field string, names []string) ([]topo.HostID, error) {
	if isAll(names) {
		return f.Hosts, nil
	}
	ids := make([]topo.HostID, 0, len(names))
	seen := make(map[topo.HostID]bool, len(names))
	for i, name := range names {
		path := fmt.Sprintf("%s[%d]", field, i)
		h, ok := f.Host(name)
		switch {
		case name == "all":
			return nil, fieldError(path, "all hosts and some by name: want either")
		case !ok:
			return nil, fieldError(path, "%s", unknownHost(f, name))
		case seen[h]:
			return nil, fieldError(path, "%s is there twice", name)
		}
		seen[h] = true
		ids = append(ids, h)
	}
	return ids, nil
}

func unknownHost(f *topo.Fabric, name string) string {
	return fmt.Sprintf("no host is called %q: hosts are %s to %s", name, f.HostName(f.Hosts[0]),
		f.HostName(f.Hosts[len(f.Hosts)-1]))
}

func isAll(names []string) bool { return len(names) == 0 || len(names) == 1 && names[0] == "all" }

// ends returns the senders and receivers of a valid stream. All hosts as
// senders to a single one means all others.
func (s *Stream) ends(f *topo.Fabric) (from, to []topo.HostID) {
	from, _ = hosts(f, "from", s.From)
	to, _ = hosts(f, "to", s.To)
	if isAll(s.From) && len(to) == 1 {
		from = others(from, to[0])
	}
	return from, to
}

// sizeIsGiven reports a missing size.
func (s *Stream) sizeIsGiven() error {
	if s.Size == 0 {
		return fieldError("size", "missing: a %s stream needs the size of its messages, at least 1B", s.Pattern)
	}
	return nil
}

// oneOf checks that the stream has exactly one of several fields.
func (s *Stream) oneOf(fields ...string) error {
	has := slices.DeleteFunc(s.given(), func(name string) bool { return !slices.Contains(fields, name) })
	switch len(has) {
	case 0:
		return fieldError(fields[0], "missing: want one of %v", fields)
	case 1:
		return nil
	}
	return fieldError(has[1], "given beside %s: want one of %v", has[0], fields)
}
