//go:build linux

package join

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"sirdbed/topo"
)

const token = "open sesame"

var about = About{
	Build: Build{"0123456789abcdef", "sirdbed 1"}, Interface: "eth1", MAC: topo.MAC{2, 0, 0, 0, 0, 7}, MTU: 1500,
}

// A met is a gate, and what it notes.
type met struct {
	*Gate
	mu    sync.Mutex
	notes []string
}

func opened(t *testing.T, hosts ...string) *met {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &met{}
	m.Gate = Open(l, GateConfig{
		Token: token, Build: about.Build, Hosts: hosts, MTU: 1500, Wait: 5 * time.Second,
		Note: func(text string) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.notes = append(m.notes, text)
		},
	})
	t.Cleanup(m.Close)
	return m
}

// enter joins, and serves by a shell script as host process until the test ends. ended has
// how that ended.
func (m *met) enter(t *testing.T, script string) (seat *Seat, ended chan error, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	seat, err := Enter(ctx, m.Addr().String(), token, about)
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- seat.Serve(ctx, []string{"/bin/sh", "-c", script}, nil) }()
	t.Cleanup(cancel)
	return seat, ended, cancel
}

func (m *met) await(t *testing.T, host string) *Peer {
	t.Helper()
	p, err := m.Await(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// begin starts the host process, whose log and standard error go to writers.
func begin(t *testing.T, p *Peer, log, stderr io.Writer) *Process {
	t.Helper()
	s, err := p.Start(log, stderr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A host process at a peer is spoken to as one of this machine, and its log arrives whole,
// for one run after the other.
func TestHostProcessesAtAPeer(t *testing.T) {
	m := opened(t, "h1-2")
	const script = `read x; echo "$x back"; head -c 300000 /dev/zero >&3; echo oops >&2; read y; echo "$GOMAXPROCS"`
	seat, ended, _ := m.enter(t, script)
	p := m.await(t, "h1-2")
	if seat.Host != "h1-2" || p.Interface != "eth1" || p.MAC != about.MAC {
		t.Fatalf("%s is %+v", seat.Host, p.About)
	}
	for range 3 {
		var log, stderr bytes.Buffer
		s := begin(t, p, &log, &stderr)
		if _, err := io.WriteString(s, "there and\n"); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(s)
		if string(out) != "there and back\n1\n" || err != nil {
			t.Errorf("output %q, %v", out, err)
		}
		if err := s.Wait(); err != nil || log.Len() != 300000 || stderr.String() != "oops\n" {
			t.Errorf("ended with %v, %d bytes of log, %q", err, log.Len(), &stderr)
		}
	}
	m.Close()
	if err := <-ended; err != nil {
		t.Errorf("once the run is over: %v", err)
	}
}

func TestHowAHostProcessEndsIsKnown(t *testing.T) {
	m := opened(t, "h1-2")
	_, _, _ = m.enter(t, `echo kept >&3; read x; exit 3`)
	p := m.await(t, "h1-2")
	for _, c := range []struct {
		how  func(*Process) error
		want string
	}{
		{(*Process).Close, "exit status 3"},
		{(*Process).Kill, "signal: killed"},
	} {
		var log bytes.Buffer
		s := begin(t, p, &log, io.Discard)
		if _, err := p.Start(io.Discard, io.Discard); err == nil {
			t.Error("two host processes at once")
		}
		// Killed at once it may not have written its log.
		if c.want == "signal: killed" {
			time.Sleep(2 * logEvery)
		}
		if err := c.how(s); err != nil {
			t.Fatal(err)
		}
		if err := s.Wait(); err == nil || err.Error() != c.want || log.String() != "kept\n" {
			t.Errorf("it ended with %v and the log %q, want %s", err, &log, c.want)
		}
	}
}

func TestWhoMayNotJoinLearnsWhy(t *testing.T) {
	m := opened(t, "h1-2", "h1-3")
	first := about
	first.Host = "h1-3"
	seat, err := Enter(t.Context(), m.Addr().String(), token, first)
	if err != nil {
		t.Fatal(err)
	}
	defer seat.line.conn.Close()
	m.await(t, "h1-3")
	for _, c := range []struct {
		name, token string
		change      func(*About)
		want        string
	}{
		{"token", "open barley", func(*About) {}, "refuses: it has another token than the run"},
		{"no token", "", func(*About) {}, "refuses: it has another token than the run"},
		{"build", token, func(a *About) { a.Build = Build{"fedcba9876543210", "sirdbed 2"} },
			"refuses: it is sirdbed 2, checksum fedcba987654, and the run sirdbed 1, checksum 0123456789ab: " +
				"use the same program at both ends"},
		{"MTU", token, func(a *About) { a.MTU = 1400 },
			"refuses: packets have up to 1500 B, and the MTU of its interface eth1 is 1400: ip link set eth1 mtu 1500"},
		{"host", token, func(a *About) { a.Host = "h1-9" }, `"h1-9" is no host that joins: those are h1-2, h1-3`},
		{"taken", token, func(a *About) { a.Host = "h1-3" }, "is h1-3 already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := about
			c.change(&a)
			if _, err := Enter(t.Context(), m.Addr().String(), c.token, a); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := strings.Count(strings.Join(m.notes, "\n"), "may not join: "); n != 6 {
		t.Errorf("%d of 6 are noted: %q", n, m.notes)
	}
}

func TestAPeerSaysWhichHostItIsWhereThereAreSeveral(t *testing.T) {
	m := opened(t, "h1-2", "h1-3")
	if _, err := Enter(t.Context(), m.Addr().String(), token, about); err == nil ||
		!strings.Contains(err.Error(), "say which host it is: --host h1-2, or h1-3") {
		t.Errorf("error %v", err)
	}
	a := about
	a.Host = "h1-2"
	seat, err := Enter(t.Context(), m.Addr().String(), token, a)
	if err != nil {
		t.Fatal(err)
	}
	defer seat.line.conn.Close()
	if s, err := Enter(t.Context(), m.Addr().String(), token, about); err != nil || s.Host != "h1-3" {
		t.Errorf("the last one is %+v, %v", s, err)
	}
}

// A proof that was overheard is none the next time.
func TestProofsAreOfOneConnection(t *testing.T) {
	if bytes.Equal(prove(token, peerSide, "a", "b"), prove(token, peerSide, "c", "b")) ||
		bytes.Equal(prove(token, peerSide, "a", "b"), prove(token, runSide, "a", "b")) ||
		bytes.Equal(prove(token, peerSide, "a", "b"), prove("another", peerSide, "a", "b")) {
		t.Error("equal proofs")
	}
}

// Who listens in place of the run has no token to prove.
func TestAPeerKnowsAnImpostor(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		line := newLine(conn)
		var h hello
		_ = line.sendWords(greeting{format, "n"})
		_ = line.receiveWords(&h)
		_ = line.sendWords(welcome{Proof: h.Proof, Host: "h1-2"}) // what it has just learned
	}()
	if _, err := Enter(t.Context(), l.Addr().String(), token, about); !errors.Is(err, errImpostor) {
		t.Errorf("error %v, want %v", err, errImpostor)
	}
}

func TestEachEndLearnsThatTheOtherIsGone(t *testing.T) {
	for _, c := range []struct {
		name      string
		leave     func(m *met, p *Peer, stop func())
		run, peer string // what each learns, "": nothing
	}{
		{"the peer is interrupted", func(_ *met, _ *Peer, stop func()) { stop() },
			errInterrupted.Error(), "context canceled"},
		{"the run's process ends", func(_ *met, p *Peer, _ func()) { p.line.conn.Close() },
			"its process has ended", "is gone: its process has ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := opened(t, "h1-2")
			_, ended, stop := m.enter(t, "echo kept >&3; read x")
			p := m.await(t, "h1-2")
			var log bytes.Buffer
			s := begin(t, p, &log, io.Discard)
			time.Sleep(2 * logEvery)
			c.leave(m, p, stop)
			if err := s.Wait(); err == nil || err.Error() != c.run {
				t.Errorf("the host process ended with %v, want %q", err, c.run)
			}
			if err := <-ended; err == nil || !strings.Contains(err.Error(), c.peer) {
				t.Errorf("the peer finds %v, want %q", err, c.peer)
			}
			<-p.gone
			if p.err == nil || p.err.Error() != c.run || log.String() != "kept\n" {
				t.Errorf("the run finds %v and the log %q, want %q", p.err, &log, c.run)
			}
			if _, err := p.Start(io.Discard, io.Discard); err == nil {
				t.Error("a host process starts at a peer that is gone")
			}
			// Another may take its place.
			m.enter(t, "true")
			if q := m.await(t, "h1-2"); q == p {
				t.Error("it is still the first one")
			}
		})
	}
}

func TestARunDoesNotWaitForever(t *testing.T) {
	m := opened(t, "h1-2")
	m.config.Wait = 10 * time.Millisecond
	if _, err := m.Await(t.Context(), "h1-2"); err == nil || err.Error() != "nobody has joined as h1-2 within 10ms" {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m.config.Wait = time.Minute
	if _, err := m.Await(ctx, "h1-2"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// Strangers harm nobody, and are cut off.
func TestStrangers(t *testing.T) {
	m := opened(t, "h1-2")
	for _, says := range []string{"GET / HTTP/1.1\r\n\r\n", "\x01\xff\xff\xff\xff", "\x01\x00\x00\x00\x02{}"} {
		conn, err := net.Dial("tcp", m.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, says)
		_ = conn.SetReadDeadline(time.Now().Add(2 * answerTime))
		if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q is not cut off", says)
		}
		conn.Close()
	}
	m.enter(t, "true")
	m.await(t, "h1-2")
}

// However many connect and say nothing, a peer joins at once, and the run ends at once.
func TestSilentStrangersKeepNobodyOut(t *testing.T) {
	m := opened(t, "h1-2")
	silent := func() {
		for range 2 * mostStrangers {
			conn, err := net.Dial("tcp", m.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
		}
	}
	silent()
	m.enter(t, "true") // for which it has answerTime, and each of them too
	m.await(t, "h1-2")
	silent()
	begun := time.Now()
	m.Close()
	if took := time.Since(begun); took > answerTime/2 {
		t.Errorf("with strangers about, the run ends after %v", took)
	}
}

// Of many that are refused the first are noted, and that there are more.
func TestRefusalsAreNotedWithinBounds(t *testing.T) {
	m := opened(t, "h1-2")
	for range 2 * mostRefusals {
		if _, err := Enter(t.Context(), m.Addr().String(), "open barley", about); err == nil {
			t.Fatal("it may join")
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if last := m.notes[len(m.notes)-1]; len(m.notes) != mostRefusals+1 ||
		!strings.HasSuffix(last, "may not join so far: more are not listed") {
		t.Errorf("%d notes, of which the last is %q", len(m.notes), last)
	}
}

// Whoever comes when the run is over is refused, though others hold the run's socket.
func TestNobodyJoinsARunThatIsOver(t *testing.T) {
	m := opened(t, "h1-2")
	kept, err := m.listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	m.Close()
	if _, err := Enter(t.Context(), m.Addr().String(), token, about); err == nil ||
		!strings.HasPrefix(err.Error(), "no run waits at 127.0.0.1:") {
		t.Errorf("error %v", err)
	}
}

func TestNobodyWaitsThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Enter(t.Context(), l.Addr().String(), token, about); err == nil ||
		!strings.HasPrefix(err.Error(), "no run waits at 127.0.0.1:") {
		t.Errorf("error %v", err)
	}
}

// An answer is between question and return, so the difference of clocks is bounded whatever
// the way there and back takes.
func TestTheOffsetIsWithinItsError(t *testing.T) {
	for _, c := range []struct {
		name                   string
		ahead, there, at, home int64
	}{
		{"equal clocks", 0, 50, 10, 50},
		{"ahead", 1_000_000, 50, 10, 50},
		{"behind", -1_000_000, 50, 10, 50},
		{"all of it there", 7, 100, 10, 0},
		{"all of it back", 7, 0, 10, 100},
		{"odd", 3, 1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := exchange{asked: 500}
			e.had = e.asked + c.there + c.ahead
			e.answered = e.had + c.at
			e.back = e.answered + c.home - c.ahead
			o := e.offset()
			if off := o.Ahead - c.ahead; max(off, -off) > o.Error || o.Error > (c.there+c.home+1)/2 {
				t.Errorf("got %+v, want %d within half of %d", o, c.ahead, c.there+c.home)
			}
		})
	}
}

// One machine has one clock: whatever is measured is within what it may be off by.
func TestTheOffsetOfOneMachineIsNone(t *testing.T) {
	m := opened(t, "h1-2")
	m.enter(t, "true")
	o, err := m.await(t, "h1-2").Offset()
	if err != nil || max(o.Ahead, -o.Ahead) > o.Error || o.Error <= 0 {
		t.Errorf("got %+v, %v", o, err)
	}
}

// What no clocks can show is no exchange: it would have an error of less than nothing, and
// be the best of all.
func TestAnswersThatCannotBeAreNone(t *testing.T) {
	for _, c := range []struct {
		name                string
		asked, had, at, got int64
		ok                  bool
	}{
		{"an answer", 100, 5000, 5010, 200, true},
		{"as long there as here", 100, 5000, 5100, 200, true},
		{"longer there than here", 100, 5000, 5101, 200, false},
		{"answered before it was had", 100, 5000, 4999, 200, false},
	} {
		var b [probeLen]byte
		for i, at := range []int64{c.asked, c.had, c.at} {
			binary.BigEndian.PutUint64(b[8*i:], uint64(at))
		}
		e, err := answered(b[:], c.got)
		if (err == nil) != c.ok || c.ok && e.offset().Error < 0 {
			t.Errorf("%s: %+v, error %v", c.name, e, err)
		}
	}
}

// A peer cannot fill the run's memory with what nobody reads.
func TestAProcessMayNotWriteWithoutEnd(t *testing.T) {
	s := newStream()
	line := make([]byte, 1<<20)
	for range mostUnread / len(line) {
		if err := s.put(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.put(line); !errors.Is(err, errUnread) {
		t.Errorf("error %v", err)
	}
	if n, err := s.Read(line); n != len(line) || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	if err := s.put(line); err != nil {
		t.Error(err)
	}
}
