//go:build linux

package node

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/ring"
	"sirdbed/sirdnode/transport"
	"sirdbed/sirdnode/wire"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// In real time a credit loop takes longer than its links: two hosts have to wake up.
// Before a run all hosts measure it at once, each with one other: a minimal packet there,
// a full one back, as credit and data are.

// Calibration is what a host is to measure, as the argument of CommandCalibrate.
type Calibration struct {
	Config Config      `json:"config"` // of the run, as far as sockets and links go
	Peer   topo.HostID `json:"peer"`   // whom to ask
	// Every is how often, in monotonic ns, from After "go" until For. Answers are given for
	// as long.
	Every int64 `json:"every"`
	After int64 `json:"after"`
	For   int64 `json:"for"`
}

// LoopPort is the UDP port of the packets by which loops are measured.
const LoopPort = 47099

// loopProtocol is what loops are measured with. Nobody else uses its port.
var loopProtocol = transport.Protocol{
	Name:    "loop",
	Wire:    wire.Protocol{Name: "loop", Port: LoopPort, HeaderLen: loopHeaderLen},
	Network: func(*topo.Fabric, any) transport.Network { return transport.Network{} },
}

// The header of loopProtocol: what it is, and when the loop began at who asked.
const (
	loopHeader = 9
	loopAsk    = 1
	loopAnswer = 2
)

func loopHeaderLen(b []byte) (int, error) {
	if len(b) < loopHeader || b[0] != loopAsk && b[0] != loopAnswer {
		return 0, errors.New("no packet of a loop")
	}
	return loopHeader, nil
}

// calibrate measures as a command says and reports how long loops took.
func (n *node) calibrate(arguments []byte) error {
	var c Calibration
	if err := json.Unmarshal(arguments, &c); err != nil {
		return fmt.Errorf("the controller's calibration: %w", err)
	}
	if err := clock.SetProcessPolicy(c.Config.Policy); err != nil {
		return err
	}
	f, err := topo.New(c.Config.Topology)
	if err != nil {
		return err
	}
	nic, err := openNIC(f, inFabric{f, c.Config.Self, c.Config.Cable}, loopProtocol, transport.Network{}, &c.Config)
	if err != nil {
		return err
	}
	defer nic.close()
	if nic.clock, err = clock.New(0, c.Config.Dilation); err != nil {
		return err
	}
	start, err := n.start()
	if err != nil {
		return err
	}
	p := newProber(nic, c.Config.Grain)
	if err := p.run(&c, start); err != nil {
		return err
	}
	return n.out.Encode(Status{State: StateCalibrated, Loops: &p.loops})
}

// A prober asks and answers.
type prober struct {
	nic   *nic
	grain units.Time
	full  int // payload of a full packet
	loops clock.Lateness
}

func newProber(n *nic, grain units.Time) *prober {
	return &prober{nic: n, grain: grain, full: int(wire.MSS(n.fabric.Spec.MTU, loopHeader))}
}

func (p *prober) run(c *Calibration, start int64) error {
	end := start + c.For
	for next := start + c.After; ; {
		_, mono, err := p.nic.socket.Wait(min(next, end, p.nic.clock.ToKernel(p.nic.due())), nil)
		if err != nil {
			return err
		}
		if mono >= end {
			return nil
		}
		p.nic.take(mono)
		now := p.nic.clock.ToNominal(mono)
		for p.nic.due() <= now+p.grain {
			if in := p.nic.deliver(now, p.grain); in != nil {
				p.receive(in, mono)
			}
		}
		if mono >= next {
			p.send(c.Peer, loopAsk, mono, 0)
			next = max(next+c.Every, mono)
		}
		if err := p.nic.socket.Flush(); err != nil && !errors.Is(err, ring.ErrBackPressure) {
			return err
		}
	}
}

// receive answers, or takes the answer's time.
func (p *prober) receive(in *transport.Packet, mono int64) {
	began := int64(binary.BigEndian.Uint64(in.HeaderBytes[1:]))
	if in.HeaderBytes[0] == loopAsk {
		p.send(in.Peer, loopAnswer, began, p.full)
		return
	}
	p.loops.Add(int64(p.nic.clock.SpanOf(mono - began)))
}

// send queues a packet. With a full ring it is lost, and so is its loop.
func (p *prober) send(peer topo.HostID, kind byte, began int64, payload int) {
	buf := p.nic.socket.Reserve()
	if buf == nil {
		return
	}
	tx := &p.nic.tx
	*tx = transport.Packet{Peer: peer, HeaderLen: loopHeader, PayloadLen: payload}
	tx.HeaderBytes[0] = kind
	binary.BigEndian.PutUint64(tx.HeaderBytes[1:], uint64(began))
	if n := p.nic.encode(buf, tx); n > 0 {
		p.nic.socket.Commit(n)
	}
}
