//go:build linux

package join

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/topo/units"
)

// GateConfig is what a run asks of those that join it.
type GateConfig struct {
	Token string
	Build Build
	Hosts []string      // those that peers are to be
	MTU   units.Bytes   // of the fabric
	Wait  time.Duration // for each of them
	// Note, if it is not nil, is told who has come or was refused. It must not block.
	Note func(string)
}

// A Gate is where peers join a run. Its methods are safe for concurrent use.
type Gate struct {
	config   GateConfig
	listener net.Listener
	serving  sync.WaitGroup

	mu        sync.Mutex
	peers     map[string]*Peer // by host; gone ones too, until others take their place
	changed   chan struct{}    // closed when that changes
	strangers []net.Conn       // who have not said who they are, oldest first
	refused   int              // of those, who may not join
	closed    bool
}

// Open has peers join at a listener, which is the Gate's from now on.
func Open(l net.Listener, c GateConfig) *Gate {
	g := &Gate{config: c, listener: l, peers: map[string]*Peer{}, changed: make(chan struct{})}
	g.serving.Go(g.accept)
	return g
}

// Addr is where peers join.
func (g *Gate) Addr() net.Addr { return g.listener.Addr() }

// Await returns the peer that is a host, once it has joined and while it is there.
func (g *Gate) Await(ctx context.Context, host string) (*Peer, error) {
	late := time.NewTimer(g.config.Wait)
	defer late.Stop()
	for {
		g.mu.Lock()
		p, changed := g.peers[host], g.changed
		there := p != nil && p.welcome && !p.isGone()
		g.mu.Unlock()
		if there {
			return p, nil
		}
		select {
		case <-changed:
		case <-late.C:
			return nil, fmt.Errorf("nobody has joined as %s within %v", host, g.config.Wait)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close lets all peers go: the run is over.
func (g *Gate) Close() {
	g.mu.Lock()
	g.closed = true
	for _, p := range g.peers {
		p.dismiss()
	}
	for _, c := range g.strangers {
		c.Close()
	}
	g.mu.Unlock()
	g.refuse()
	g.listener.Close()
	g.serving.Wait()
}

// refuse has connections refused from now on, though other processes have the listener's
// socket too.
func (g *Gate) refuse() {
	tcp, ok := g.listener.(*net.TCPListener)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // Close does the rest
	}
}

// Bounds of what strangers get.
const (
	// mostStrangers is how many may be about to say who they are at once. With one more the
	// first of them has to go, so that those who say nothing keep nobody out.
	mostStrangers = 64
	mostRefusals  = 20 // that are noted
	// refusalPause is what each one costs after that, so that those who come again and again
	// take nothing from the run.
	refusalPause = 100 * time.Millisecond
)

func (g *Gate) accept() {
	for {
		conn, err := g.listener.Accept()
		if err != nil {
			if g.isClosed() {
				return
			}
			time.Sleep(100 * time.Millisecond) // such as too many open files
			continue
		}
		g.come(conn)
		g.serving.Go(func() { g.serve(conn) })
		if g.besieged() {
			time.Sleep(refusalPause)
		}
	}
}

// come has a stranger come, at another's cost if there are too many.
func (g *Gate) come(conn net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		conn.Close()
	}
	if len(g.strangers) == mostStrangers {
		g.strangers[0].Close()
		g.strangers = slices.Delete(g.strangers, 0, 1)
	}
	g.strangers = append(g.strangers, conn)
}

// known has a stranger be none any more. It reports false for one that had to go.
func (g *Gate) known(conn net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.strangers, conn)
	if i >= 0 {
		g.strangers = slices.Delete(g.strangers, i, i+1)
	}
	return i >= 0
}

// serve finds out who has come, and has it join, until it is gone.
func (g *Gate) serve(conn net.Conn) {
	defer conn.Close()
	l := newLine(conn)
	p, err := g.greet(l)
	stayed := g.known(conn)
	if err != nil {
		if stayed {
			g.noteRefusal(conn, err)
		}
		_ = l.sendWords(welcome{Error: err.Error()}) // whether it takes that or not
		return
	}
	g.note("%s has joined: %v", p.Host, p)
	g.change(func() { p.welcome = true })
	p.serve()
	g.note("%s has gone: %v: %v", p.Host, p, p.err)
	g.change(func() {})
}

// noteRefusal notes who may not join. Strangers do not fill the terminal.
func (g *Gate) noteRefusal(conn net.Conn, why error) {
	g.mu.Lock()
	g.refused++
	n := g.refused
	g.mu.Unlock()
	switch {
	case n <= mostRefusals:
		g.note("%v may not join: %v", conn.RemoteAddr(), why)
	case n == mostRefusals+1:
		g.note("%d may not join so far: more are not listed", n)
	}
}

// besieged reports whether more have been refused than are noted.
func (g *Gate) besieged() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused > mostRefusals
}

func (g *Gate) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

func (g *Gate) note(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.config.Note != nil && !g.closed {
		g.config.Note(fmt.Sprintf(format, args...))
	}
}

func (g *Gate) change(how func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	how()
	close(g.changed)
	g.changed = make(chan struct{})
}

// errToken is why somebody without the token is refused.
var errToken = errors.New("it has another token than the run")

// greet finds out who connects. The error is why that is none who joins.
func (g *Gate) greet(l *line) (*Peer, error) {
	nonce := rand.Text()
	if err := l.sendWords(greeting{format, nonce}); err != nil {
		return nil, err
	}
	var h hello
	if err := l.receiveWords(&h); err != nil {
		return nil, err
	}
	if !hmac.Equal(h.Proof, prove(g.config.Token, peerSide, nonce, h.Nonce)) {
		return nil, errToken
	}
	p := newPeer(l, h.About)
	if err := g.admit(p); err != nil {
		return nil, err
	}
	w := welcome{Proof: prove(g.config.Token, runSide, nonce, h.Nonce), Host: p.Host}
	if err := l.sendWords(w); err != nil {
		p.leave(err)
		return nil, err
	}
	return p, nil
}

// admit makes a peer one of the run's hosts.
func (g *Gate) admit(p *Peer) (err error) {
	g.change(func() {
		if err = g.fits(p); err == nil {
			g.peers[p.Host] = p
		}
	})
	return err
}

// fits chooses the peer's host, and says why it is none.
func (g *Gate) fits(p *Peer) error {
	c := &g.config
	if p.Build.Checksum != c.Build.Checksum {
		return fmt.Errorf("it is %v, and the run %v: use the same program at both ends", p.Build, c.Build)
	}
	if p.MTU < c.MTU {
		return fmt.Errorf("packets have up to %d B, and the MTU of its interface %s is %d: ip link set %s mtu %d",
			c.MTU, p.Interface, p.MTU, p.Interface, c.MTU)
	}
	var free []string
	for _, h := range c.Hosts {
		if other := g.peers[h]; other == nil || other.isGone() {
			free = append(free, h)
		}
	}
	switch {
	case g.closed:
		return errors.New("the run is over")
	case p.Host != "" && !slices.Contains(c.Hosts, p.Host):
		return fmt.Errorf("%q is no host that joins: those are %s", p.Host, strings.Join(c.Hosts, ", "))
	case p.Host != "" && !slices.Contains(free, p.Host):
		return fmt.Errorf("%v is %s already", g.peers[p.Host], p.Host)
	case len(free) == 0:
		return errors.New("all hosts have joined")
	case p.Host == "" && len(free) > 1:
		return fmt.Errorf("say which host it is: --host %s", strings.Join(free, ", or "))
	case p.Host == "":
		p.Host = free[0]
	}
	return nil
}
