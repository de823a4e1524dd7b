package paper

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestExpand(t *testing.T) {
	for _, tc := range []struct {
		pattern string
		want    string // joined by spaces; "error"
	}{
		{"a", "a"},
		{"{a,b}/{c,d}", "a/c a/d b/c b/d"},
		{"x{a}y", "xay"},
		{"", ""},
		{"{a", "error"}, {"a}", "error"}, {"{a,{b}}", "error"}, {"}a{", "error"}, {"{a}{b", "error"},
	} {
		got, err := expand(tc.pattern)
		text := strings.Join(got, " ")
		if err != nil {
			text = "error"
		}
		if text != tc.want {
			t.Errorf("%q: got %q, want %q", tc.pattern, text, tc.want)
		}
	}
}

// README has every figure and setting of quantities, every table, and every check.
func TestReadmeHasEveryName(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Concat(settings, slices.Collect(maps.Keys(checks)), PrintedTables, []string{MeanTorQueue})
	for _, f := range figureNames {
		if !strings.Contains(f, "_slowdown_") { // one line for all sizes
			names = append(names, f)
		}
	}
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("README has no %s", name)
		}
	}
}

func TestWantedNamesAreCanonical(t *testing.T) {
	wanted := Wanted()
	if len(wanted) < 100 || !slices.IsSorted(wanted) {
		t.Fatalf("%d names", len(wanted))
	}
	m := &Measured{Quantities: map[string]Value{}}
	for _, name := range wanted {
		m.Quantities[name] = Value{Number: 1}
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
}

// Every figure and setting that names may have is wanted by a claim: there are no
// others to supply.
func TestEveryFigureAndSettingIsWanted(t *testing.T) {
	all := "/" + strings.Join(Wanted(), "/") + "/"
	for _, f := range figureNames {
		if !strings.Contains(all, "/"+f+"/") {
			t.Errorf("no claim wants figure %s", f)
		}
	}
	for _, s := range settings {
		if !strings.Contains(all, "/"+s+"=") {
			t.Errorf("no claim wants setting %s", s)
		}
	}
}

// No name crashes what reads it, and a name that passes is one that Measured takes or
// says why not.
func FuzzQuantity(f *testing.F) {
	for _, s := range []string{
		"sird/core/wka/load=0.5/goodput_gbps", "{a,b}", "a}{", "////", "sird/core/wka/b=1.5bdp/x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if strings.Count(name, "{") > 5 || len(name) > 200 {
			return // a pattern of ours is shorter, and expands to fewer names
		}
		if names, err := expand(name); err == nil {
			for _, n := range names {
				if strings.ContainsAny(n, "{}") {
					t.Errorf("%q expands to %q", name, n)
				}
			}
		}
		m := &Measured{Quantities: map[string]Value{name: {Number: 1}}}
		if err := m.Check(); err != nil {
			return
		}
		if _, ok := m.get(name); !ok {
			t.Errorf("%q is taken and not found", name)
		}
	})
}
