package paper

import (
	"slices"
	"strings"
	"testing"
)

// by returns the findings by the id of their claims.
func by(t *testing.T, m *Measured) map[string]Finding {
	t.Helper()
	list, err := Evaluate(m)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Finding{}
	for _, f := range list {
		found[f.Claim.ID] = f
	}
	return found
}

// What can be checked by the paper's own tables holds, but for one statement, which
// they contradict: ExpressPass's queues in WKa are among the shortest there are.
func TestClaimsByThePrint(t *testing.T) {
	holds := 0
	for id, f := range by(t, Printed()) {
		switch {
		case f.Verdict == DoesNotHold && id != "wka-queueing", f.Verdict == Holds && id == "wka-queueing":
			t.Errorf("%s: %s: %s", id, f.Verdict, f.Text())
		case f.Verdict == Holds:
			holds++
		}
		if f.Verdict == ClaimNotRun && len(f.Missing) == 0 {
			t.Errorf("%s is not run, and lacks nothing", id)
		}
		if f.Verdict == NotTestable && (f.Claim.NotTestable == "" || len(f.Numbers) > 0) {
			t.Errorf("%s is not testable: %+v", id, f)
		}
		if (f.Verdict == Holds || f.Verdict == DoesNotHold) && (f.ByPrint != f.Verdict || len(f.Numbers) == 0) {
			t.Errorf("%s: %q, by print %q", id, f.Verdict, f.ByPrint)
		}
	}
	if holds < 28 {
		t.Errorf("%d claims hold by the print, want 28", holds)
	}
}

func TestNothingMeasuredLeavesClaimsNotRun(t *testing.T) {
	for id, f := range by(t, &Measured{}) {
		switch {
		case strings.HasPrefix(id, "asic-"): // of the table of ASICs
			if f.Verdict != Holds {
				t.Errorf("%s: %s", id, f.Verdict)
			}
		case f.Verdict == NotTestable:
		case f.Verdict != ClaimNotRun || len(f.Missing) == 0 || len(f.Numbers) > 0:
			t.Errorf("%s: %s, lacks %v, numbers %v", id, f.Verdict, f.Missing, f.Numbers)
		}
	}
}

// One cell that is not there is what claims on its table lack, and no other.
func TestAClaimSaysWhatItLacks(t *testing.T) {
	m := Printed()
	cell := Cell{MaxTorQueue, "core", "wkc", "swift"}
	delete(m.Cells, cell)
	found := by(t, m)
	if f := found["homa-peak-queue"]; f.Verdict != ClaimNotRun || !slices.Equal(f.Missing, []string{cell.String()}) ||
		f.ByPrint != Holds || f.Text() != "lacks swift/core/wkc/max_tor_queue_mb" {
		t.Errorf("got %+v", f)
	}
	for _, id := range []string{"dcpim-slowdown", "xpass-goodput", "core-steady"} {
		if f := found[id]; f.Verdict != Holds {
			t.Errorf("%s: %s: %s", id, f.Verdict, f.Text())
		}
	}
}

// A check that fails is enough, whatever else is missing.
func TestOneCounterexampleIsEnough(t *testing.T) {
	for _, tc := range []struct {
		name string
		m    map[string]Value
		want ClaimVerdict
	}{
		{"fails", map[string]Value{"traffic/balanced/wka/mean_size_bytes": {Number: 4000}}, DoesNotHold},
		{"passes", map[string]Value{"traffic/balanced/wka/mean_size_bytes": {Number: 3000}}, ClaimNotRun},
	} {
		f := by(t, &Measured{Quantities: tc.m})["workload-means"]
		if f.Verdict != tc.want || len(f.Missing) != 2 || len(f.Numbers) != 1 {
			t.Errorf("%s: got %s, numbers %v, lacks %v; want %s", tc.name, f.Verdict, f.Numbers, f.Missing, tc.want)
		}
	}
}

// What a user's own protocol does changes no claim of the paper's.
func TestAUsersProtocolChangesNoClaim(t *testing.T) {
	m := Printed()
	for _, table := range PrintedTables {
		eachColumn(func(_ int, config, workload string) {
			best := 0.001
			if table == MaxGoodput {
				best = 1000
			}
			m.Cells[Cell{table, config, workload, "mine"}] = Value{Number: best}
		})
	}
	plain := by(t, Printed())
	for id, f := range by(t, m) {
		if f.Verdict != plain[id].Verdict || !slices.Equal(f.Numbers, plain[id].Numbers) {
			t.Errorf("%s: %s, was %s", id, f.Text(), plain[id].Text())
		}
	}
}

// With swapped protocols the statements on the two fail.
func TestClaimsFailWithSwappedProtocols(t *testing.T) {
	m := &Measured{Cells: map[Cell]Value{}}
	for c, v := range Printed().Cells {
		switch c.Protocol {
		case "sird":
			c.Protocol = "homa"
		case "homa":
			c.Protocol = "sird"
		}
		m.Cells[c] = v
	}
	found := by(t, m)
	for _, id := range []string{
		"homa-peak-queue", "dcpim-queue", "near-ideal", "receiver-bottleneck", "core-bottleneck", "homa-latency",
		"core-steady", "homa-buffer",
	} {
		if f := found[id]; f.Verdict != DoesNotHold {
			t.Errorf("%s: %s: %s", id, f.Verdict, f.Text())
		}
	}
}
