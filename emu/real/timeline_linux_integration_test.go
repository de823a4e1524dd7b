//go:build linux

package real

import (
	"testing"

	"sirdbed/emu"
	"sirdbed/emu/internal/rundir"
	"sirdbed/sirdnode/fault"
	"sirdbed/sirdnode/record"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// timesOf are the nominal times of a host's records of a kind.
func timesOf(t *testing.T, dir emu.RunDir, host string, kind record.Kind) (times []units.Time) {
	t.Helper()
	file, err := dir.Open(emu.HostLog(host))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for r, err := range record.Read(file) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == kind {
			times = append(times, r.At)
		}
	}
	return times
}

// within counts the times in [from, to).
func within(times []units.Time, from, to units.Time) (n int) {
	for _, at := range times {
		if at >= from && at < to {
			n++
		}
	}
	return n
}

// h1-1 sends h1-2 a message of a packet each 2 us, for 200 us, which takes 5. From 50 to
// 100 us something happens, as of these very times but for what the controller does; what is
// lost is counted, and then things go on.
func TestTimelineOfFaults(t *testing.T) {
	const us = units.Microsecond
	event := func(e fault.Event) fault.Timeline {
		if e.At = 50 * us; e.Do == fault.Kill {
			e.Restart = 50 * us
		} else {
			e.For = 50 * us
		}
		return fault.Timeline{e}
	}
	for _, c := range []struct {
		name     string
		timeline fault.Timeline
		// Messages that are delivered while they pass the fault, of about 20, and at once
		// when it is over.
		least, most int
		burst       int
		lost        int64 // packets at least
	}{
		{"blackhole", event(fault.Event{Link: "h1-1", Do: fault.Blackhole}), 0, 0, 0, 24},
		{"one direction", event(fault.Event{Link: "leaf1>h1-2", Do: fault.Blackhole}), 0, 0, 0, 24},
		{"down", event(fault.Event{Link: "h1-2", Do: fault.Down}), 0, 0, 0, 20},
		{"drop", event(fault.Event{Link: "h1-1", Do: fault.Drop, Share: 0.5}), 3, 17, 0, 6},
		{"corrupt", event(fault.Event{Link: "h1-1", Do: fault.Corrupt, Share: 1}), 0, 0, 0, 0},
		{"delay", event(fault.Event{Link: "h1-1>leaf1", Do: fault.Delay, Delay: 22 * us}), 8, 15, 5, 0},
		{"rate", event(fault.Event{Link: "h1-2", Do: fault.Rate, Rate: units.Gbps}), 1, 6, 0, 0},
		{"pause", event(fault.Event{Host: "h1-2", Do: fault.Pause}), 0, 0, 20, 0},
		{"kill", event(fault.Event{Host: "h1-1", Do: fault.Kill}), 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, x, dir := engine(t), rpcs(), rundir.Open(t, t.TempDir())
			x.Duration, x.Drain, x.Timeline = 200*us, 20*us, c.timeline
			x.Streams = []traffic.Stream{{Name: "a", Pattern: traffic.PatternFixed, From: []string{"h1-1"},
				To: []string{"h1-2"}, Size: 1000, Interval: 2 * us}}
			facts, err := e.Run(t.Context(), x, dir, emu.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			delivered, late := timesOf(t, dir, "h1-2", record.Delivered), facts.FaultLateness.Max // of the controller
			if n := within(delivered, 58*us+late, 98*us); n < c.least || n > c.most {
				t.Errorf("%d messages delivered from 58 to 98 us, want %d to %d", n, c.least, c.most)
			}
			if n := within(delivered, 10*us, 50*us); n < 15 {
				t.Errorf("%d messages delivered before, want about 20", n)
			}
			if n := within(delivered, 100*us, 120*us); n < c.burst {
				t.Errorf("%d messages delivered right afterwards, want at least %d", n, c.burst)
			}
			offered := timesOf(t, dir, "h1-1", record.Offered)
			killed, restarted := timesOf(t, dir, "h1-1", record.Killed), timesOf(t, dir, "h1-1", record.Restarted)
			if c.name != "kill" {
				if n := within(delivered, 120*us+late, 200*us+late); n < 20 {
					t.Errorf("%d messages delivered afterwards, want about 40", n)
				}
			} else if n := within(offered, 50*us, 100*us); n > 0 || within(offered, 100*us, 200*us) < 45 ||
				within(killed, 50*us, 50*us+1) != 1 || within(restarted, 100*us, 100*us+1) != 1 {
				t.Errorf("%d messages sent while it was dead; killed %v, restarted %v", n, killed, restarted)
			}
			var sent, received, dropped, lost, unseen, corrupt, flipped int64
			for _, h := range facts.Hosts {
				sent, received, unseen = sent+h.Sent, received+h.Received, unseen+h.Faults
				corrupt, flipped = corrupt+h.Corrupt, flipped+h.Flipped
				if !h.Finished {
					t.Errorf("%s did not finish", h.Name)
				}
			}
			for _, p := range facts.Ports {
				dropped, lost = dropped+p.Drops, lost+p.Lost
			}
			slack := int64(0)
			if c.name == "down" {
				slack = 14 // in transmission in the instant, and what a late host has sent at once
			}
			if missing := sent - received - dropped - lost; missing < 0 || missing > slack {
				t.Errorf("%d sent, %d received, %d dropped, %d lost: %d are missing", sent, received, dropped, lost,
					missing)
			}
			if lost+unseen < c.lost {
				t.Errorf("%d packets lost on links and %d at hosts, want at least %d", lost, unseen, c.lost)
			}
			if corrupt != flipped || (corrupt > 0) != (c.name == "corrupt") {
				t.Errorf("%d packets damaged, %d found", flipped, corrupt)
			}
		})
	}
}
