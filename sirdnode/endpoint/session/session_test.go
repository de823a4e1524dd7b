//go:build linux

package session

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sirdbed/sirdnode/nstest"
	"sirdbed/topo"
	"sirdbed/topo/units"
)

// A keeper notes what sessions ask of it.
type keeper struct {
	mu     sync.Mutex
	events []string
	refuse string
	left   chan struct{}
}

func (k *keeper) note(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = append(k.events, fmt.Sprintf(format, args...))
}

func (k *keeper) Greet(id int, from netip.Addr, h Hello) Welcome {
	k.note("%d greets %v, %s", id, from, h.Protocol)
	return Welcome{Error: k.refuse, MTU: 1500}
}

func (k *keeper) Agree(id int, m Measured) Begin {
	k.note("%d agrees on %v", id, m.Loop.Usual)
	return Begin{Rate: units.Gbps, Params: json.RawMessage(`{"b":2}`)}
}

func (k *keeper) Counts(int) Counts { return Counts{Messages: 7} }

func (k *keeper) Leave(id int, err error) {
	k.note("%d leaves: %v", id, err)
	k.left <- struct{}{}
}

// serving serves at the loopback until the test ends, or stop is called.
func serving(t *testing.T, k *keeper) (at netip.Addr, stop func()) {
	t.Helper()
	nstest.Lock(t) // the port is one for the machine
	k.left = make(chan struct{}, 10)
	at = netip.MustParseAddr("127.77.0.1")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, at, k) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	for range 200 {
		if c, err := net.Dial("tcp4", netip.AddrPortFrom(at, Port).String()); err == nil {
			c.Close()
			return at, cancel
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("nobody serves after 2 s")
	return at, cancel
}

func connect(t *testing.T, at netip.Addr) (*Conn, error) {
	t.Helper()
	c, w, err := Connect(t.Context(), netip.MustParseAddr("127.0.0.1"), at, Hello{Protocol: "sird"})
	if err == nil && w.MTU != 1500 {
		t.Errorf("welcomed with %+v", w)
	}
	return c, err
}

func TestSessionFromHelloToBye(t *testing.T) {
	k := &keeper{}
	at, _ := serving(t, k)
	c, err := connect(t, at)
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Agree(topo.Loop{Usual: 80 * units.Microsecond})
	if err != nil || b.Rate != units.Gbps || string(b.Params) != `{"b":2}` {
		t.Fatalf("%+v, %v", b, err)
	}
	if counts, err := c.Bye(); err != nil || counts.Messages != 7 {
		t.Errorf("%+v, %v", counts, err)
	}
	<-k.left
	want := []string{"1 greets 127.0.0.1, sird", "1 agrees on 80us", "1 leaves: <nil>"}
	if !slices.Equal(k.events, want) {
		t.Errorf("events %q, want %q", k.events, want)
	}
}

func TestWhyASessionIsRefusedIsSaid(t *testing.T) {
	k := &keeper{refuse: "it is closed"}
	at, _ := serving(t, k)
	if _, err := connect(t, at); err == nil || err.Error() != "127.77.0.1 refuses: it is closed" {
		t.Errorf("error %v", err)
	}
	elsewhere := netip.MustParseAddr("127.77.0.2")
	if _, err := connect(t, elsewhere); err == nil || !strings.Contains(err.Error(), "nothing serves at") {
		t.Errorf("error %v", err)
	}
	if err := Serve(t.Context(), at, k); err == nil || !strings.Contains(err.Error(), "another sirdbed node") {
		t.Errorf("a second one that serves there: error %v", err)
	}
}

func TestEachEndLearnsThatTheOtherIsGone(t *testing.T) {
	k := &keeper{}
	at, stop := serving(t, k)
	c, err := connect(t, at)
	if err == nil {
		_, err = c.Agree(topo.Loop{})
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Close() // without Bye
	<-k.left
	if last := k.events[len(k.events)-1]; last != "1 leaves: its process has ended" {
		t.Errorf("the serving end notes %q", last)
	}
	if c, err = connect(t, at); err == nil {
		_, err = c.Agree(topo.Loop{})
	}
	if err != nil {
		t.Fatal(err)
	}
	stop()
	<-c.Ended()
	if err := c.Err(); err == nil || err.Error() != "127.77.0.1: it has been stopped" {
		t.Errorf("the connecting end finds %v", err)
	}
	c.Close()
}

// Strangers get an answer or none, and harm nobody.
func TestStrangers(t *testing.T) {
	k := &keeper{}
	at, _ := serving(t, k)
	for _, c := range []struct{ says, hears string }{
		{"GET / HTTP/1.1\r\n\r\n", ""},
		{`{"format": "sirdbed node 0"}` + "\n", "use the same build"},
		{strings.Repeat("x", longestLine+1), ""},
	} {
		conn, err := net.Dial("tcp4", netip.AddrPortFrom(at, Port).String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, c.says) // it may hang up before the end
		line, _ := bufio.NewReader(conn).ReadString('\n')
		if !strings.Contains(line, c.hears) || (c.hears == "") != (line == "") {
			t.Errorf("%.20q hears %q, want %q", c.says, line, c.hears)
		}
		conn.Close()
	}
	if len(k.events) != 0 {
		t.Errorf("events %q", k.events)
	}
}
