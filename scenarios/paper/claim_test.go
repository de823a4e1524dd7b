package paper

import (
	"slices"
	"strings"
	"testing"
)

// Each stated number that is not only for plots is of a claim, and what a check
// compares with is among those that its claim states.
func TestClaimsStateTheirNumbers(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range claims() {
		for _, id := range c.Stated {
			seen[id] = true
		}
		for _, check := range c.Checks {
			for _, n := range numbersOf(check.check) {
				if n != nil && n.id != "" && !slices.Contains(c.Stated, n.id) {
					t.Errorf("%s compares with %s, which it does not state", c.ID, n.id)
				}
			}
		}
	}
	alone := []string{"incast-sender-rate", "outcast-credit-of-one"} // of figures: an input, and its first step
	for _, v := range stated() {
		if seen[v.ID] == slices.Contains(alone, v.ID) {
			t.Errorf("%s: stated by a claim: %v", v.ID, seen[v.ID])
		}
	}
}

// numbersOf are the numbers that a check compares with.
func numbersOf(c check) []*number {
	switch c := c.(type) {
	case *figureCheck:
		return []*number{c.About, c.AtLeast, c.AtMost}
	case *meansCheck:
		return []*number{c.About, c.AtLeast, c.AtMost}
	case *bufferCheck:
		return []*number{c.About, c.AtLeast, c.AtMost}
	}
	return nil
}

func TestClaimsCoverTheSections(t *testing.T) {
	testable := 0
	for _, c := range claims() {
		if c.NotTestable == "" {
			testable++
		}
		if !strings.Contains(c.Source, "section") {
			t.Errorf("%s has no section: %s", c.ID, c.Source)
		}
	}
	if n := len(claims()); n != 106 || testable != 87 {
		t.Errorf("%d claims, %d of them testable: one that is gone was a promise", n, testable)
	}
	sections := map[string]bool{}
	for _, c := range claims() {
		for word := range strings.FieldsFuncSeq(c.Source, func(r rune) bool { return strings.ContainsRune(" ,;", r) }) {
			sections[word] = true
		}
	}
	for _, s := range []string{"1", "2.1", "2.2", "3", "6.1.1", "6.1.2", "6.2", "6.2.1", "6.2.2", "6.2.3", "6.2.4"} {
		if !sections[s] {
			t.Errorf("section %s has no claim", s)
		}
	}
}

func TestHostileClaimsAreRefused(t *testing.T) {
	claim := func(checks string) string { return "- {$C, checks: [" + checks + "]}" }
	short := strings.NewReplacer("$C", "id: a, source: s, statement: x", "$Q", "sird/core/wka/max_tor_queue_mb")
	for _, tc := range []struct{ name, text, want string }{
		{"no list", "a: b", "mapping"},
		{"no YAML", "- {", ""},
		{"an unknown field", "- {$C, loud: 1}", "loud"},
		{"no id", "- {source: s, statement: x, not_testable: y}", "needs id"},
		{"neither checks nor reason", "- {$C}", "either"},
		{"both", "- {$C, not_testable: y, checks: [buffer: {model: Trident2, at_most: 1}]}", "either"},
		{"twice", "- {$C, not_testable: y}\n- {$C, not_testable: y}",
			"two claims"},
		{"an unknown number", "- {$C, not_testable: y, stated: [z]}", "no stated number"},
		{"an unknown check", claim("magic: {}"), "no check"},
		{"two checks in one", claim("{best: {}, range: {}}"), "one name"},
		{"a check without name", claim("best"), "one name"},
		{"an unknown argument", claim("alike: {of: [a/b/c/goodput_gbps], loud: 1}"), "loud"},
		{"figure: no names", claim("figure: {at_most: 1}"), "needs of"},
		{"figure: no bound", claim("figure: {of: [$Q]}"), "about, at_most"},
		{"figure: about alone", claim("figure: {of: [$Q], about: 1}"), "together"},
		{"figure: a share for a percentage", claim("figure: {of: [$Q], about: 1, within: 0.1}"),
			"percentage"},
		{"figure: words for a number", claim("figure: {of: [$Q], at_most: many}"), "neither"},
		{"figure: NaN", claim("figure: {of: [$Q], at_most: NaN}"), "finite"},
		{"figure: no such figure", claim("figure: {of: [sird/core/wka/speed], at_most: 1}"), "no figure"},
		{"figure: no such take", claim("figure: {of: [$Q], at_most: 1, take: all}"), "take"},
		{"figure: braces", claim(`figure: {of: ["sird/core/{wka/max_tor_queue_mb"], at_most: 1}`), "braces"},
		{"figure: lists that do not pair", claim(`figure: {at_most: 1,` +
			` of: ["sird/core/{wka,wkb,wkc}/max_tor_queue_mb"],` +
			` over: ["homa/core/{wka,wkb}/max_tor_queue_mb"]}`), "pair"},
		{"means: a user's protocol", claim("means: {table: p99_slowdown, of: mine, over: sird, at_most: 1}"),
			"no protocol"},
		{"means: no table", claim("means: {table: speed, of: homa, over: sird, at_most: 1}"), "no table"},
		{"means: no kind", claim("means: {table: p99_slowdown, of: homa, over: sird, at_most: 1, kind: odd}"), "kind"},
		{"steps: one", claim("steps: {of: [$Q], direction: rising}"), "two figures"},
		{"steps: sideways", claim(`steps: {of: ["sird/core/{wka,wkb}/max_tor_queue_mb"], direction: up}`), "direction"},
		{"alike: within nothing", claim(`alike: {of: ["sird/core/{wka,wkb}/max_tor_queue_mb"]}`), "within"},
		{"buffer: no chip", claim("buffer: {model: Abacus, at_most: 1}"), "no ASIC"},
		{"buffer: no bandwidth", claim("buffer: {model: Trident2, of: [$Q], at_most: 1}"),
			"together"},
		{"best: in none", claim("best: {table: p99_slowdown, protocol: sird, in_at_least: 0}"), "in_at_least"},
		{"range: of none", claim("range: {table: p99_slowdown, protocol: sird}"), "below"},
		{"same_orders: one table", claim("same_orders: {a: p99_slowdown, b: p99_slowdown, share_at_least: 1}"),
			"two tables"},
		{"near_ideal: nothing", claim("near_ideal: {protocol: sird}"), "1 or more"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := readClaims([]byte(short.Replace(tc.text)))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}
