package brokertest

import (
	"net"
	"path/filepath"
	"sync"
	"testing"

	"sirdbed/sirdnode/message/broker"
	"sirdbed/sirdnode/message/frame"
)

// sockets are those of all hosts, and what lets their goroutines take turns.
type sockets struct {
	mu      sync.Mutex
	changed *sync.Cond
	clients []*client
	ended   bool
}

type client struct {
	*broker.Client
	conn net.Conn
}

// Listen has each host's broker serve a Unix socket, and returns the paths, by host.
func (f *Fabric) Listen(t testing.TB) (addresses []string) {
	t.Helper()
	f.sockets.changed = sync.NewCond(&f.sockets.mu)
	dir := t.TempDir()
	for i, b := range f.Brokers {
		path := filepath.Join(dir, f.topology.HostName(f.hosts[i].self))
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				f.serve(b, conn)
			}
		}()
		addresses = append(addresses, path)
	}
	t.Cleanup(f.End)
	return addresses
}

// End ends all connections, as at a run's end.
func (f *Fabric) End() {
	s := &f.sockets
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, c := range s.clients {
		c.Farewell(frame.Ended, "the run is over")
	}
	s.changed.Broadcast()
}

func (f *Fabric) serve(b *broker.Broker, conn net.Conn) {
	s := &f.sockets
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &client{b.Connect(), conn}
	if c.Client == nil || s.ended {
		conn.Close()
		return
	}
	s.clients = append(s.clients, c)
	go f.read(c)
	go f.write(c)
}

// read takes what a program writes, while its host has room.
func (f *Fabric) read(c *client) {
	s := &f.sockets
	buf := make([]byte, 64<<10)
	for {
		s.mu.Lock()
		for !c.Wants() && !c.Ending() {
			s.changed.Wait()
		}
		s.mu.Unlock()
		n, err := c.conn.Read(buf)
		s.mu.Lock()
		if err != nil {
			c.Client.Close()
		} else {
			c.Feed(buf[:n])
		}
		f.Settle()
		s.changed.Broadcast()
		s.mu.Unlock()
		if err != nil {
			c.conn.Close()
			return
		}
	}
}

// write writes what the broker has for a program.
func (f *Fabric) write(c *client) {
	s := &f.sockets
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		out := c.Output()
		switch {
		case out == nil && c.Ending():
			c.conn.Close()
			return
		case out == nil:
			s.changed.Wait()
			continue
		}
		// To the broker it is written: the program may answer before Write returns.
		copied := append([]byte(nil), out...)
		c.Wrote(len(copied))
		c.Output()
		s.mu.Unlock()
		_, err := c.conn.Write(copied)
		s.mu.Lock()
		if err != nil {
			return
		}
		f.Settle()
		s.changed.Broadcast()
	}
}
