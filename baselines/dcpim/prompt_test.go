package dcpim_test

import (
	"slices"
	"testing"

	"sirdbed/baselines/dcpim"
	"sirdbed/emu/model"
	"sirdbed/emu/model/modeltest"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// README, Prompt links: over an idle fabric data begins with the ACCEPT. The RTS comes
// in round 0, the REQUEST goes in round 1, the ACCEPT when round 2 begins.
func TestPromptLinksBeginWithTheAccept(t *testing.T) {
	f := rack(t, 4)
	first := units.Never
	sim := newSim(t, model.Config{Fabric: f, Sends: []model.Send{{Dst: 1, Size: units.Megabyte}},
		OnPacket: func(e model.PacketEvent) {
			if h, ok := leavesHost(f, e); ok && h.Kind == "DATA" {
				first = min(first, e.At)
			}
		}})
	modeltest.AllDone(t, f, sim, 10*units.Millisecond)
	want := 2*at(sim, 0).Round() + f.Transit(f.Path(1, 0, 0), topo.MinWire)
	if first < want || first > want+30 { // after an ACCEPT, a REQUEST and the token before it
		t.Errorf("first data at %v, want %v", first, want)
	}
}

// A channel is prompt only while the present data phase leaves it idle: a receiver that
// is matched in full opens none, and no receiver ever has more than k open.
func TestPromptLinksAreIdleOnes(t *testing.T) {
	f := modeltest.Fabric(t, topo.Spec{Leaves: 2, HostsPerLeaf: 4, Spines: 2, HostRate: 100 * units.Gbps,
		CoreRate: 100 * units.Gbps, HostDelay: 1250, CoreDelay: 500})
	for _, load := range []float64{0.3, 0.9} {
		sim := newSim(t, model.Config{Fabric: f, Seed: 1, To: 2 * units.Millisecond,
			Streams: []traffic.Stream{{Name: "all", Pattern: traffic.PatternPoisson, Sizes: "wkb", Load: load}}})
		prompt := 0
		for sim.Now() < 2*units.Millisecond {
			sim.Run(sim.Now() + units.Microsecond)
			for _, h := range f.Hosts {
				host := at(sim, h)
				if n := host.OpenChannels(); n > 4 {
					t.Fatalf("at %v %s has %d channels open", sim.Now(), f.HostName(h), n)
				}
				if host.PromptChannels() > 0 {
					prompt++
				}
				if b := host.Broken(); b != "" {
					t.Fatal(b)
				}
			}
		}
		if prompt < 100 {
			t.Errorf("load %g: prompt channels at %d of 16000 times: nothing was tested", load, prompt)
		}
	}
}

// The sender's half: a GRANT says how many of its channels are idle, which are those
// that no receiver has accepted for the present data phase or been promised.
func TestGrantsOfferIdleChannels(t *testing.T) {
	f := rack(t, 4)
	for _, c := range []struct {
		name   string
		change func(*dcpim.Params)
		before int // channels of the present data phase
		busy   int // the receiver that has no idle channel
		want   []int
	}{
		{"all idle", nil, 0, 0, []int{1, 1, 1}},
		{"two in use", nil, 2, 0, []int{1, 1, 0}},
		{"two in use, one receiver without an idle one", nil, 2, 3, []int{0, 1, 1}},
		{"all in use", nil, 4, 0, []int{0, 0, 0}},
		{"switched off", withoutPromptLinks, 0, 0, []int{0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newChangedCore(t, f, 1, c.change)
			for h := 1; h <= 3; h++ {
				s.Send(0, transport.Message{Peer: topo.HostID(h), Size: units.Megabyte})
			}
			s.all(0)
			round := s.Round()
			// Host 1 accepts in the last round of epoch 0, and all ask in the first of epoch 1.
			s.all(4 * round)
			s.get(4*round+100, 1, dcpim.Header{Kind: "ACCEPT", Round: 3, Channels: c.before}, 0)
			for h := 1; h <= 3; h++ {
				ask := dcpim.Header{Kind: "REQUEST", Round: 4, Channels: 1, Prompt: 1, Remaining: 500}
				if h == c.busy { // it is granted first, for its message is the shortest
					ask.Prompt, ask.Remaining = 0, 400
				}
				s.get(4*round+200, topo.HostID(h), ask, 0)
			}
			var got []int
			for _, p := range s.all(4*round + round/2) {
				if p.Kind == "GRANT" {
					got = append(got, p.Prompt)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("prompt channels %v, want %v", got, c.want)
			}
		})
	}
}
