//go:build linux

package node

import (
	"fmt"
	"math/rand/v2"

	"sirdbed/baselines/tcp"
	"sirdbed/baselines/tcp/sockets"
	"sirdbed/sirdnode/host"
	"sirdbed/sirdnode/record"
	"sirdbed/sirdnode/transport"
	"sirdbed/topo/units"
	"sirdbed/traffic"
)

// A host whose protocol is the kernel's: the application above a Driver, with no
// NIC of its own.

// setUpDriver makes the application and opens the driver's sockets.
func (n *node) setUpDriver(cfg host.Config) (err error) {
	if n.cfg.DelayFrames {
		return fmt.Errorf(
			"%s: the links of this fabric do not delay packets, and a host cannot delay those of its kernel",
			cfg.Protocol.Name)
	}
	if n.app, err = host.NewApplication(cfg, n.log); err != nil {
		return err
	}
	n.driver, err = newDriver(cfg, transport.DriverEnv{
		Env: transport.Env{
			Self: cfg.Self, Fabric: cfg.Fabric, Sink: n.app,
			Rand: rand.New(rand.NewPCG(cfg.Seed, uint64(cfg.Self)+1)),
		},
		Payload: func(m transport.Message, offset units.Bytes, size int) []byte {
			return host.Payload(cfg.Self, m.Peer, m.ID, offset, size)
		},
		Note: func(text string) { n.log.Put(record.Record{Kind: record.Note, At: n.last, Text: text}) },
	})
	if err == nil {
		n.app.SendOver(n.driver)
		err = n.driver.Open(n.control.fd)
	}
	if err != nil {
		return fmt.Errorf("%s at %s: %w", cfg.Protocol.Name, cfg.Fabric.HostName(cfg.Self), err)
	}
	return nil
}

// newDriver makes the driver of a protocol of the kernel. Which one is seen by
// its parameters.
func newDriver(cfg host.Config, env transport.DriverEnv) (transport.Driver, error) {
	if err := cfg.Protocol.CheckDriver(cfg.Params); err != nil {
		return nil, err
	}
	switch params := cfg.Params.(type) {
	case *tcp.Params:
		return sockets.New(env, params), nil
	}
	return nil, fmt.Errorf("no driver has parameters of type %T", cfg.Params)
}

// driverLoop is the life of such a host: do what sockets are ready for and what
// the application has due, sleep until the next of these. Connections are opened
// before nominal time 0.
func (n *node) driverLoop() error {
	peers, err := traffic.Peers(n.fabric, n.cfg.Streams, n.cfg.Self)
	if err != nil {
		return err
	}
	n.driver.Connect(peers)
	wait := n.clock.Origin()
	n.flushAt = wait + logEvery
	for {
		control, mono, err := n.driver.Wait(wait)
		if err != nil {
			return err
		}
		now := n.clock.ToNominal(mono)
		n.stood(n.app.NextMessage(), now)
		n.served = now
		if control {
			if stop, err := n.command(mono); err != nil || stop {
				return err
			}
		}
		if now >= n.cfg.End && !n.draining {
			n.last = n.cfg.End
			n.drain(mono)
		}
		if n.draining {
			n.driver.Abort()
		} else {
			n.driver.Serve(now)
		}
		if now < 0 {
			wait = n.clock.Origin()
			continue
		}
		n.advance(now)
		if err := n.keepLog(mono, now); err != nil {
			return err
		}
		next := units.Never
		if !n.draining {
			next = min(n.app.NextArrival(), n.cfg.End)
		}
		wait = min(n.clock.ToKernel(next), n.flushAt)
	}
}

// advance does what the application has due, and what events of the driver
// asked for.
func (n *node) advance(now units.Time) {
	if n.draining {
		return
	}
	n.app.Flush(now)
	if due := n.app.NextMessage(); due <= now {
		n.late(due, now)
		n.app.Advance(now)
	}
	n.sample(now)
	n.last = now
}

// driverCounts are the totals of the kernel's protocol, as if it were a NIC's.
func (n *node) driverCounts() (NICCounts, error) {
	k, err := n.driver.Finish()
	return NICCounts{Sent: k.Sent, Received: k.Received, Corrupt: k.Corrupt}, err
}
