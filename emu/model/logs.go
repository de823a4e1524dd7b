package model

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"sirdbed/emu"
	"sirdbed/sirdnode/record"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// logQueues has all ports sampled into the run's queue log.
func (r *run) logQueues() error {
	file, err := r.createLog(emu.QueueLog)
	if err != nil {
		return err
	}
	_, to := r.x.Window()
	q := &queueLog{
		sim: r.sim, log: record.NewWriter(file), file: file, last: make([][2]int64, len(r.sim.ports)),
		sentEvery: record.SentEvery(to), sent: make([]int64, len(r.sim.ports)),
	}
	r.queues = q.log
	r.files = append(r.files, q)
	if r.x.QueueEvery > 0 {
		r.sim.every(r.x.QueueEvery, q.sample)
	}
	return nil
}

// A queueLog writes samples of all ports' queues.
type queueLog struct {
	sim  *Sim
	log  *record.Writer
	file io.Closer
	last [][2]int64 // by port: bytes and packets of its last record

	sentAt    units.Time // when to log what ports have sent
	sentEvery units.Time
	sent      []int64 // by port: of its last record
}

func (q *queueLog) sample(now units.Time) {
	for i := range q.sim.ports {
		p := &q.sim.ports[i]
		if read := [2]int64{p.waiting, p.packets}; read != q.last[i] {
			q.last[i] = read
			q.log.Put(record.Record{Kind: record.Queue, Peer: uint16(i), ID: uint32(p.packets), At: now, N: p.waiting})
		}
	}
	q.log.Put(record.Record{Kind: record.Tick, At: now})
	if now >= q.sentAt {
		q.sentAt = now + q.sentEvery
		q.logSent(now)
	}
}

// logSent logs what the switches' ports have sent. Hosts log their own.
func (q *queueLog) logSent(now units.Time) {
	for i := range q.sim.ports {
		p := &q.sim.ports[i]
		if sent := p.stats.WireBytes; sent != q.sent[i] && int(p.info.Node) >= len(q.sim.hosts) {
			q.sent[i] = sent
			q.log.Put(record.Record{Kind: record.Sent, Peer: uint16(i), At: now, N: sent})
		}
	}
}

// Close implements io.Closer.
func (q *queueLog) Close() error {
	q.log.Put(record.Record{Kind: record.End, At: q.sim.Now()})
	err := errors.Join(q.log.Flush(), q.file.Close())
	if err != nil {
		return fmt.Errorf("queue log: %w", err)
	}
	return nil
}

// capture opens the captures that the experiment asks for: at all ports of a
// node, or at one of them. At a port named alone both directions of its link
// are captured, as a capture on its interface would.
func (r *run) capture() error {
	if r.hooks.OpenCapture == nil {
		return nil
	}
	f := r.sim.fabric
	ports := map[topo.NodeID][]topo.PortID{}
	var nodes []topo.NodeID // in the order of mention
	for _, name := range r.x.Capture {
		var add []topo.PortID
		if n, ok := f.Node(name); ok {
			add = n.Ports
		} else if i := slices.IndexFunc(f.Ports, func(p topo.Port) bool { return p.Name == name }); i >= 0 {
			add = []topo.PortID{topo.PortID(i)}
		} else {
			return fmt.Errorf("capture: no node or port is called %q: use a name such as h1-1, leaf1 or leaf1>h1-1",
				name)
		}
		at := f.Ports[add[0]].Node
		if _, ok := ports[at]; !ok {
			nodes = append(nodes, at)
		}
		for _, p := range add {
			if !slices.Contains(ports[at], p) {
				ports[at] = append(ports[at], p)
			}
		}
	}
	for _, n := range nodes {
		file, err := r.dir.Create(emu.CaptureFile(f.Nodes[n].Name))
		if err != nil {
			return err
		}
		c, err := r.hooks.OpenCapture(file, &f.Nodes[n])
		if err != nil {
			return fmt.Errorf("capture at %s: %w", f.Nodes[n].Name, err)
		}
		r.files = append(r.files, c)
		for _, p := range ports[n] {
			r.sim.ports[p].taps = append(r.sim.ports[p].taps, tap{c, r.x.SnapLen})
		}
	}
	return nil
}
