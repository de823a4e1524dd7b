package paper

import (
	"fmt"
	"slices"
	"strings"
)

// A quantity's name is PROTOCOL/CONFIG/WORKLOAD[/load=VALUE][/SETTING=VALUE...]/FIGURE, such as
//
//	sird/balanced/wkc/load=0.95/b=2bdp/goodput_gbps
//
// Without a load it is the most of all loads; settings that are the paper's own are left out, as Canonical
// says, and the others are in the order of this list. README, Quantities, says what each is.
var settings = []string{"load", "b", "sthr", "unscht", "prio", "k", "size", "receiver", "policy", "receivers"}

// defaults are the settings that the paper's runs have where it does not say others.
var defaults = []string{"b=1.5bdp", "sthr=0.5bdp", "unscht=1bdp", "prio=data", "k=7"}

// asSet stands in a name for settings that a claim spells out and that are all the paper's own: a run that those
// with other settings are compared with, and as long.
const asSet = "defaults"

// Canonical returns a quantity's name as a Measured has it: settings that are the paper's own are left out, and
// "defaults" stands for them if there are no others. Only in the configurations of the tables, where runs of two
// lengths are of the same settings; "testbed" has one.
func Canonical(name string) string {
	isDefault := func(p string) bool { return slices.Contains(defaults, p) }
	parts := strings.Split(name, "/")
	left := slices.DeleteFunc(slices.Clone(parts), isDefault)
	if len(left) == len(parts) || len(left) < 4 || !slices.Contains(Configs, left[1]) {
		return strings.Join(left, "/")
	}
	last := len(left) - 1
	if last == 3 || last == 4 && strings.HasPrefix(left[3], "load=") {
		left = slices.Insert(left, last, asSet)
	}
	return strings.Join(left, "/")
}

// figureNames are the last parts of quantities' names, besides the tables. Their last
// word is the unit; what has none is a ratio or a share.
var figureNames = []string{
	"goodput_gbps",
	"p50_slowdown_a", "p50_slowdown_b", "p50_slowdown_c", "p50_slowdown_d", "p50_slowdown_all",
	"p99_slowdown_a", "p99_slowdown_b", "p99_slowdown_c", "p99_slowdown_d", "p99_slowdown_all",
	"credit_at_senders_bdp", "credit_in_flight_bdp", "credit_at_receivers_bdp",
	"mean_link_queue_bdp", "p99_link_queue_bdp",
	"p50_latency_us", "credit_at_sender_bdp", "credit_by_receiver_bdp", "credit_available_bdp",
	"max_downlink_queue_bdp", "least_to_most_goodput",
	"mean_size_bytes", "messages_below_bdp", "bytes_below_bdp", "messages_by_spine",
}

// checkQuantity returns what is wrong with a name.
func checkQuantity(name string) error {
	parts := strings.Split(name, "/")
	if len(parts) < 4 {
		return fmt.Errorf("it is not PROTOCOL/CONFIG/WORKLOAD[/SETTING=VALUE...]/FIGURE")
	}
	last := len(parts) - 1
	for _, p := range parts[:3] {
		if !isWord(p) {
			return fmt.Errorf("%q is not a word of letters, digits and -", p)
		}
	}
	previous := -1
	for i, p := range parts[3:last] {
		if p == asSet && standsForAll(parts[1], parts[3:last], i) {
			continue
		}
		setting, value, _ := strings.Cut(p, "=")
		at := slices.Index(settings, setting)
		switch {
		case at < 0:
			return fmt.Errorf("no setting is called %q", setting)
		case at <= previous:
			return fmt.Errorf("settings are in the order %s", strings.Join(settings, ", "))
		case !isWord(value):
			return fmt.Errorf("%q is not a value of %s", value, setting)
		}
		previous = at
	}
	figure := parts[last]
	if !slices.Contains(figureNames, figure) && !slices.Contains(PrintedTables, figure) && figure != MeanTorQueue {
		return fmt.Errorf("no figure is called %q", figure)
	}
	return nil
}

// standsForAll reports whether "defaults" at i is of a configuration of the tables, and there is nothing but a load
// beside it.
func standsForAll(config string, set []string, i int) bool {
	return slices.Contains(Configs, config) && len(set) == i+1 &&
		(i == 0 || i == 1 && strings.HasPrefix(set[0], "load="))
}

// isWord reports whether a name has no characters but letters, digits, "-", "_",
// "+" and ".", and has some.
func isWord(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_+.", r)
	})
}

// cellNamed returns the cell of a name, if it is one's.
func cellNamed(name string) (Cell, bool) {
	parts := strings.Split(name, "/")
	if len(parts) != 4 {
		return Cell{}, false
	}
	c := Cell{Protocol: parts[0], Config: parts[1], Workload: parts[2], Table: parts[3]}
	return c, c.check() == nil
}

// expand returns the names that a pattern stands for: "{a,b}" is a or b, and the
// leftmost braces vary slowest. Braces do not nest.
func expand(pattern string) ([]string, error) {
	before, rest, found := strings.Cut(pattern, "{")
	if !found {
		if strings.Contains(pattern, "}") {
			return nil, fmt.Errorf("%q has a } without a {", pattern)
		}
		return []string{pattern}, nil
	}
	inside, after, found := strings.Cut(rest, "}")
	if !found || strings.ContainsAny(inside, "{") || strings.Contains(before, "}") {
		return nil, fmt.Errorf("%q has braces that do not match", pattern)
	}
	tails, err := expand(after)
	if err != nil {
		return nil, err
	}
	var list []string
	for choice := range strings.SplitSeq(inside, ",") {
		for _, tail := range tails {
			list = append(list, before+choice+tail)
		}
	}
	return list, nil
}

// expandAll returns the names of several patterns, one after another.
func expandAll(patterns []string) (list []string, err error) {
	for _, p := range patterns {
		names, err := expand(p)
		if err != nil {
			return nil, err
		}
		list = append(list, names...)
	}
	return list, nil
}
