package paper

import (
	"fmt"
	"strings"
	"testing"
)

// q makes quantities of a protocol's maximum queue in Balanced at 50 %, for names as
// short as "sird wka 0.5"; a negative number stands for unstable.
func q(t *testing.T, list string) *Measured {
	t.Helper()
	m := &Measured{Quantities: map[string]Value{}}
	for part := range strings.SplitSeq(list, ", ") {
		var protocol, workload string
		var x float64
		if _, err := fmt.Sscan(part, &protocol, &workload, &x); err != nil {
			t.Fatalf("%q: %v", part, err)
		}
		name := protocol + "/balanced/" + workload + "/load=0.5/max_tor_queue_mb"
		m.Quantities[name] = Value{Number: max(x, 0), Unstable: x < 0}
	}
	return m
}

// patterns stand for lists of patterns of such quantities: of SIRD or Homa, one or
// three workloads.
var patterns = strings.NewReplacer(
	"$S1", "[sird/balanced/wka/load=0.5/max_tor_queue_mb]",
	"$S3", `["sird/balanced/{wka,wkb,wkc}/load=0.5/max_tor_queue_mb"]`,
	"$H1", "[homa/balanced/wka/load=0.5/max_tor_queue_mb]",
	"$H3", `["homa/balanced/{wka,wkb,wkc}/load=0.5/max_tor_queue_mb"]`,
)

const three = "sird wka 1, sird wkb 2, sird wkc 3"

// claimOf is a claim with one check.
func claimOf(t *testing.T, check string) Claim {
	t.Helper()
	list, err := readClaims([]byte("- {id: a, source: s, statement: x, checks: [{" + patterns.Replace(check) + "}]}"))
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

func TestChecksOfQuantities(t *testing.T) {
	for _, tc := range []struct {
		name, check, here string
		want              ClaimVerdict
		text              string // in the finding's
	}{
		{"at most", "figure: {of: $S1, at_most: 1}", "sird wka 1", Holds, "1, wanted at most 1"},
		{"more than at most", "figure: {of: $S1, at_most: 1}", "sird wka 1.1", DoesNotHold, "1.1"},
		{"at least", "figure: {of: $S1, at_least: 1}", "sird wka 0.9", DoesNotHold, "0.9"},
		{"about, above", "figure: {of: $S1, about: 2, within: 25%}", "sird wka 2.5", Holds, "2 within 25 %"},
		{"about, too far", "figure: {of: $S1, about: 2, within: 25%}", "sird wka 1.4", DoesNotHold, "1.4"},
		{"about a stated share less", "figure: {of: $S1, about: dcpim-queue, within: 1%}", "sird wka 0.57", Holds,
			"0.57"},
		{"unstable is more than any number", "figure: {of: $S1, at_most: 100}", "sird wka -1", DoesNotHold,
			"unstable"},
		{"missing", "figure: {of: $S3, at_most: 4}", "sird wka 1", ClaimNotRun,
			"lacks sird/balanced/wkb/load=0.5/max_tor_queue_mb and 1 more"},
		{"each", "figure: {of: $S3, at_most: 3}", three, Holds, "1 to 3, wanted at most 3: 3 of 3"},
		{"not each", "figure: {of: $S3, at_most: 2}", three, DoesNotHold,
			"2 of 3; not sird/balanced/wkc/load=0.5/max_tor_queue_mb: 3"},
		{"any", "figure: {of: $S3, at_most: 1, take: any}", three, Holds, "1 of 3"},
		{"not any", "figure: {of: $S3, at_most: 0.5, take: any}", three, DoesNotHold, "0 of 3"},
		{"largest", "figure: {of: $S3, about: 3, within: 1%, take: largest}", three, Holds, "largest 3"},
		{"smallest", "figure: {of: $S3, about: 3, within: 1%, take: smallest}", three, DoesNotHold,
			"smallest 1"},
		{"largest ratio of what is stable", "figure: {of: $H3, over: $S1, at_most: 2, take: largest}",
			"sird wka 1, homa wka 1, homa wkb 2, homa wkc -1", Holds, "largest 2"},
		{"the largest is unstable", "figure: {of: $S3, at_most: 2, take: largest}",
			"sird wka 1, sird wkb 2, sird wkc -1", DoesNotHold, "largest unstable"},
		{"a number less what is unstable", "figure: {of: $H1, less: $S1, at_most: 2}", "sird wka -1, homa wka 4",
			DoesNotHold, "unstable"},
		{"what is unstable less a number", "figure: {of: $H1, less: $S1, at_most: 2}", "sird wka 1, homa wka -1",
			DoesNotHold, "unstable"},
		{"over", "figure: {of: $H1, over: $S1, at_least: 4}", "sird wka 2, homa wka 8", Holds, "4"},
		{"over one for all", "figure: {of: $H3, over: $S1, at_least: 4}",
			"sird wka 1, homa wka 4, homa wkb 5, homa wkc 3", DoesNotHold, "3 to 5, wanted at least 4: 2 of 3"},
		{"one over all", "figure: {of: $H1, over: $S3, at_least: 2}", three + ", homa wka 6", Holds,
			"2 to 6"},
		{"unstable over a number", "figure: {of: $H1, over: $S1, at_least: 4}",
			"sird wka 2, homa wka -1", Holds, "unstable"},
		{"a number over unstable", "figure: {of: $H1, over: $S1, at_most: 0.1}",
			"sird wka -1, homa wka 1", Holds, "0"},
		{"both unstable", "figure: {of: $H1, over: $S1, at_most: 4}", "sird wka -1, homa wka -1",
			DoesNotHold, "unstable or nothing on both sides: all of 1"},
		{"nothing over nothing", "figure: {of: $H1, over: $S1, at_most: 4}", "sird wka 0, homa wka 0",
			DoesNotHold, "unstable or nothing on both sides: all of 1"},
		{"each, but both of one are unstable", "figure: {of: $H3, over: $S3, at_most: 4}",
			"sird wka 1, sird wkb 1, sird wkc -1, homa wka 1, homa wkb 1, homa wkc -1", DoesNotHold, "2 of 2; 1 more"},
		{"any, but both of one are unstable", "figure: {of: $H3, over: $S3, at_most: 4, take: any}",
			"sird wka 1, sird wkb 1, sird wkc -1, homa wka 1, homa wkb 1, homa wkc -1", Holds, "1 more unstable"},
		{"smallest ratio of what is stable", "figure: {of: $H3, over: $S3, at_most: 0.1, take: smallest}",
			"sird wka 1, sird wkb 1, sird wkc -1, homa wka 1, homa wkb 2, homa wkc 1", DoesNotHold, "smallest 1"},
		{"less", "figure: {of: $H1, less: $S1, at_most: 2}", "sird wka 2, homa wka 4", Holds, "2"},
		{"than", "figure: {of: $H1, over: $S1, at_least: 2, than: {of: $S1, over: $H1}}",
			"sird wka 2, homa wka 3", Holds, "2.25"},
		{"more quotients than figures",
			"figure: {of: $H1, over: $S1, at_most: 30, than: {of: $S3, over: $H1}}",
			three + ", homa wka 6", DoesNotHold, "2 of 3"},
		{"rising", "steps: {of: $S3, direction: rising}", three, Holds, "1, 2, 3, wanted rising"},
		{"not falling", "steps: {of: $S3, direction: falling}", three, DoesNotHold, "wanted falling"},
		{"falling", "steps: {of: $S3, direction: falling}", "sird wka 3, sird wkb 2, sird wkc 1", Holds, ""},
		{"level does not rise", "steps: {of: $S3, direction: rising}", "sird wka 1, sird wkb 1, sird wkc 2",
			DoesNotHold, ""},
		{"level, with slack", "steps: {of: $S3, direction: rising, slack: 5%}",
			"sird wka 1, sird wkb 0.96, sird wkc 2", Holds, ""},
		{"beyond the slack", "steps: {of: $S3, direction: rising, slack: 5%}",
			"sird wka 1, sird wkb 0.94, sird wkc 2", DoesNotHold, ""},
		{"differences rise", "steps: {of: $H3, less: $S3, direction: rising}",
			three + ", homa wka 1, homa wkb 3, homa wkc 5", Holds, "0, 1, 2"},
		{"unstable and unstable do not rise", "steps: {of: $H3, less: $S3, direction: rising}",
			"sird wka -1, sird wkb 2, sird wkc 3, homa wka -1, homa wkb 3, homa wkc 5", DoesNotHold, ""},
		{"quotients rise", "steps: {of: $H3, over: $S3, direction: rising}",
			three + ", homa wka 1, homa wkb 3, homa wkc 6", Holds, "1, 1.5, 2"},
		{"quotients that differences rise without", "steps: {of: $H3, over: $S3, direction: rising}",
			three + ", homa wka 2, homa wkb 4, homa wkc 6", DoesNotHold, "2, 2, 2"},
		{"unstable does not rise to a number", "steps: {of: $S3, direction: rising}",
			"sird wka 1, sird wkb -1, sird wkc 2", DoesNotHold, "1, unstable, 2"},
		{"nor with slack", "steps: {of: $S3, direction: rising, slack: 5%}",
			"sird wka 1, sird wkb -1, sird wkc 2", DoesNotHold, ""},
		{"nor to unstable", "steps: {of: $S3, direction: rising}", "sird wka 1, sird wkb -1, sird wkc -1",
			DoesNotHold, ""},
		{"a number rises to unstable", "steps: {of: $S3, direction: rising}",
			"sird wka 1, sird wkb 2, sird wkc -1", Holds, ""},
		{"unstable falls to a number", "steps: {of: $S3, direction: falling, slack: 5%}",
			"sird wka -1, sird wkb 2, sird wkc 1", Holds, ""},
		{"unstable does not fall to unstable", "steps: {of: $S3, direction: falling}",
			"sird wka -1, sird wkb -1, sird wkc 1", DoesNotHold, ""},
		{"alike", "alike: {of: $S3, within: 10%}", "sird wka 1, sird wkb 1.05, sird wkc 1.1", Holds,
			"sird/balanced/*/load=0.5/max_tor_queue_mb: 1 to 1.1, wanted within 10 %"},
		{"not alike", "alike: {of: $S3, within: 9%}", "sird wka 1, sird wkb 1.05, sird wkc 1.1", DoesNotHold, ""},
		{"unstable is like nothing", "alike: {of: $S3, within: 9%}", "sird wka -1, sird wkb -1, sird wkc -1",
			DoesNotHold, "unstable"},
		{"a chip's buffer", "buffer: {model: Trident2, about: 9.4, within: 1%}", "sird wka 1", Holds, "9.38 MB/Tbps"},
		{"a share of a buffer", "buffer: {model: Trident2, tbps: 0.64, of: $S3, about: 0.5, within: 1%}", three,
			Holds, "3 of 6 MB"},
		{"more than a buffer", "buffer: {model: Trident2, tbps: 0.64, of: $S3, at_most: 1}",
			"sird wka 1, sird wkb -1, sird wkc 1", DoesNotHold, "unstable"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := claimOf(t, tc.check).evaluate(q(t, tc.here))
			if f.Verdict != tc.want || !strings.Contains(f.Text(), tc.text) {
				t.Errorf("got %s: %s\nwant %s: %s", f.Verdict, f.Text(), tc.want, tc.text)
			}
		})
	}
}

func TestChecksOfTables(t *testing.T) {
	sird := func(table string, v Value) func(*Measured) {
		return func(m *Measured) { m.Cells[Cell{table, "balanced", "wkb", "sird"}] = v }
	}
	none := func(*Measured) {}
	slowdowns := func(more string) string { return "means: {table: p99_slowdown, " + more + "}" }
	nearIdeal := func(slowdown, goodput string) string {
		return "near_ideal: {protocol: sird, slowdown_at_most: " + slowdown + ", goodput_at_least: " + goodput +
			", queue_at_most: 100}"
	}
	sameOrders := func(share string) string {
		return "same_orders: {a: max_tor_queue_mb, b: mean_tor_queue_mb, share_at_least: " + share + "}"
	}
	const rangeOfGoodput = "range: {table: max_goodput_gbps, protocol: sird, below: [dcpim, xpass]}"
	meanQueues := func(of func(Value) float64) func(*Measured) {
		return func(m *Measured) {
			for c, v := range Printed().Cells {
				if c.Table == MaxTorQueue {
					c.Table = MeanTorQueue
					v.Number = of(v)
					m.Cells[c] = v
				}
			}
		}
	}
	for _, tc := range []struct {
		name, check string
		change      func(*Measured) // of the print
		want        ClaimVerdict
		text        string
	}{
		{"means", slowdowns("of: homa, over: sird, about: 0.9024, within: 0.1%"), none, Holds, "raw 0.997"},
		{"raw means", slowdowns("of: homa, over: sird, about: 0.9024, within: 0.1%, kind: raw"), none,
			DoesNotHold, "0.997, wanted"},
		{"common means", slowdowns("of: xpass, over: sird, about: 9.78, within: 0.1%, kind: common"), none,
			Holds, "9.78, wanted"},
		{"means lack a cell", "means: {table: p99_slowdown, of: homa, over: xpass, at_most: 1}",
			func(m *Measured) { delete(m.Cells, Cell{P99Slowdown, "core", "wka", "dctcp"}) }, ClaimNotRun,
			"lacks dctcp/core/wka/p99_slowdown"},
		{"means of what is never stable", "means: {table: max_tor_queue_mb, of: swift, over: sird, at_most: 1}",
			func(m *Measured) {
				for c := range m.Cells {
					if c.Protocol == "swift" && c.Table == MaxTorQueue {
						m.Cells[c] = Value{Unstable: true}
					}
				}
			}, DoesNotHold, "no number in common"},
		{"the stated ratio is scaled to the cells with a number here",
			"means: {table: max_tor_queue_mb, of: homa, over: sird, about: homa-peak-queue, within: 2%}",
			func(m *Measured) {
				m.Cells[Cell{MaxTorQueue, "core", "wkc", "homa"}] = Value{Unstable: true}
			}, Holds, "12.34, wanted 12.13 within 2 % (12 in print, scaled"},
		{"best", "best: {table: p99_slowdown, protocol: homa, in_at_least: 7}", none, Holds, "best in 7 of 9"},
		{"one less", "best: {table: p99_slowdown, protocol: homa, in_at_least: 7}", sird(P99Slowdown, Value{Number: 2}),
			DoesNotHold, "best in 6 of 9"},
		{"unstable is never best", "best: {table: max_tor_queue_mb, protocol: xpass, in_at_least: 9}", none,
			DoesNotHold, "8 of 9"},
		{"range", rangeOfGoodput, none, Holds, "range of sird 0.0442"},
		{"wider range", rangeOfGoodput,
			sird(MaxGoodput, Value{Number: 50}), DoesNotHold, ""},
		{"near ideal", nearIdeal("1.5", "0.9"), none,
			Holds, "near the best: sird"},
		{"not near enough", nearIdeal("1.4", "0.9"),
			none, DoesNotHold, ""},
		{"unstable is not near", nearIdeal("1.5", "0.9"),
			sird(MaxTorQueue, Value{Unstable: true}), DoesNotHold, ""},
		{"not alone", nearIdeal("4", "0.7"), none,
			DoesNotHold, "near the best: sird, dcpim"},
		{"the same orders", sameOrders("1"),
			meanQueues(func(v Value) float64 { return v.Number / 3 }), Holds, "orders are the same"},
		{"the other way around", sameOrders("0.1"),
			meanQueues(func(v Value) float64 { return 1 / (1 + v.Number) }), DoesNotHold, "0 of"},
		{"all equal", sameOrders("0.1"),
			meanQueues(func(Value) float64 { return 1 }), DoesNotHold, "0 of"},
		{"no mean queues", sameOrders("0.1"), none, ClaimNotRun,
			"and 53 more"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := Printed()
			tc.change(m)
			f := claimOf(t, tc.check).evaluate(m)
			if f.Verdict != tc.want || !strings.Contains(f.Text(), tc.text) {
				t.Errorf("got %s: %s\nwant %s: %s", f.Verdict, f.Text(), tc.want, tc.text)
			}
		})
	}
}
