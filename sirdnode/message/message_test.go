package message_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"sirdbed/sirdnode/message"
	"sirdbed/sirdnode/message/broker"
	"sirdbed/sirdnode/message/brokertest"
	"sirdbed/sirdnode/message/frame"
)

func dial(t *testing.T, address string) *message.Conn {
	t.Helper()
	c, err := message.Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func listen(t *testing.T, address string, service uint16) *message.Listener {
	t.Helper()
	l, err := message.Listen(t.Context(), address, service)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want one that matches %v", err, want)
	}
}

func text(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

func TestSendReceive(t *testing.T) {
	at := brokertest.New(t, 2, broker.DefaultLimits).Listen(t)
	c, l := dial(t, at[0]), listen(t, at[1], 7)
	if c.Host() != "h1-1" || l.Host() != "h1-2" || len(c.Hosts()) != 2 || c.MaxSize() != broker.DefaultLimits.Message {
		t.Errorf("hosts are %q and %q of %q, messages of up to %d bytes", c.Host(), l.Host(), c.Hosts(), c.MaxSize())
	}
	for _, size := range []int{0, 1, 32 << 10, 32<<10 + 1, 1_000_000, c.MaxSize()} {
		sent := make(chan error, 1)
		go func() { sent <- c.Send(t.Context(), "h1-2", 7, text(size)) }()
		m, err := l.Receive(t.Context())
		if err != nil || m.From != "h1-1" || m.Request || !bytes.Equal(m.Data, text(size)) {
			t.Fatalf("%d bytes: received %v, %v", size, m, err)
		}
		if err := <-sent; err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		wantError(t, m.Reply(t.Context(), nil), message.ErrMalformed)
	}
}

func TestErrors(t *testing.T) {
	limits := broker.DefaultLimits
	limits.Message = 1000
	f := brokertest.New(t, 2, limits)
	at := f.Listen(t)
	c := dial(t, at[0])
	listen(t, at[1], 7)
	wantError(t, c.Send(t.Context(), "h1-2", 8, nil), message.ErrNoListener)
	wantError(t, c.Send(t.Context(), "h1-9", 7, nil), message.ErrUnknownHost)
	wantError(t, c.Send(t.Context(), "h1-1", 7, nil), message.ErrUnknownHost)
	wantError(t, c.Send(t.Context(), "h1-2", 7, text(1001)), message.ErrTooLarge)
	_, err := c.Call(t.Context(), "h1-2", 8, nil)
	wantError(t, err, message.ErrNoListener)
	if e, ok := errors.AsType[*message.Error](err); !ok || e.Host != "h1-2" || e.Service != 8 || e.Op != "call" {
		t.Errorf("the error %#v does not say whose it is", err)
	}
	_, err = message.Listen(t.Context(), at[1], 7)
	wantError(t, err, message.ErrInUse)
	_, err = message.Dial(t.Context(), filepath.Join(t.TempDir(), "nobody"))
	wantError(t, err, message.ErrNoTransport)

	other := dial(t, at[0])
	other.Close()
	wantError(t, other.Send(t.Context(), "h1-2", 7, nil), message.ErrClosed)
	s, err := c.SendAsync(t.Context(), "h1-2", 7, nil) // which nobody takes
	if err != nil {
		t.Fatal(err)
	}
	f.End()
	wantError(t, s.Wait(t.Context()), message.ErrEnded)
	wantError(t, c.Send(t.Context(), "h1-2", 7, nil), message.ErrEnded)
}

// A receiver that is killed, with messages that it has and has not taken.
func TestListenerCloses(t *testing.T) {
	at := brokertest.New(t, 2, broker.DefaultLimits).Listen(t)
	c, l := dial(t, at[0]), listen(t, at[1], 7)
	s, err := c.SendAsync(t.Context(), "h1-2", 7, text(100))
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	go func() {
		_, err := c.Call(t.Context(), "h1-2", 7, nil)
		asked <- err
	}()
	if _, err := l.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Close()
	wantError(t, <-asked, message.ErrNoListener)
	_, err = l.Receive(t.Context())
	wantError(t, err, message.ErrClosed)
	listen(t, at[1], 7)
}

// Many programs in all hosts call one another at once.
func TestManyClientsAtOnce(t *testing.T) {
	const hosts, clients, calls = 4, 8, 30
	f := brokertest.New(t, hosts, broker.DefaultLimits)
	at := f.Listen(t)
	for host := range hosts {
		l := listen(t, at[host], 7)
		go l.Serve(context.Background(), func(_ context.Context, m *message.Message) []byte {
			return append([]byte(m.From+" to "+l.Host()+" "), m.Data...)
		})
	}
	var all sync.WaitGroup
	for host := range hosts {
		for n := range clients {
			c := dial(t, at[host])
			all.Go(func() {
				for i := range calls {
					to := fmt.Sprintf("h1-%d", 1+(host+1+i%(hosts-1))%hosts)
					data := text(n*1000 + i)
					got, err := c.Call(t.Context(), to, 7, data)
					if want := append([]byte(c.Host()+" to "+to+" "), data...); err != nil || !bytes.Equal(got, want) {
						t.Errorf("%d bytes to %s came back as %d, %v", len(data), to, len(got), err)
					}
				}
			})
		}
	}
	all.Wait()
	f.End()
}

// A sender whose receiver does not read waits, as long as its context lets it; what waited
// for it goes on when it reads.
func TestBackPressure(t *testing.T) {
	limits := broker.DefaultLimits
	limits.Window, limits.Client, limits.Outgoing = 2<<20, 2<<20, 2<<20
	at := brokertest.New(t, 2, limits).Listen(t)
	c, l := dial(t, at[0]), listen(t, at[1], 7)
	const size = 600_000
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	var sent []*message.Sending
	blocked := make(chan struct{})
	go func() {
		for range 50 {
			s, err := c.SendAsync(ctx, "h1-2", 7, text(size))
			if err != nil {
				waiting <- err
				return
			}
			sent = append(sent, s)
			if len(sent) == 3 { // as much as the window has room for: the next is read in part at most
				close(blocked)
			}
		}
		waiting <- nil
	}()
	<-blocked
	cancel()
	wantError(t, <-waiting, context.Canceled)
	// The message that was cut off is in the socket, as far as it was written, and the rest follows.
	done := make(chan error, 1)
	go func() { done <- c.Send(t.Context(), "h1-2", 7, []byte("last")) }()
	for n := 0; ; n++ {
		m, err := l.Receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Data) == "last" {
			if n < len(sent) || n > len(sent)+1 {
				t.Errorf("%d messages arrived, of %d and one that was given up", n, len(sent))
			}
			break
		}
		if !bytes.Equal(m.Data, text(size)) {
			t.Fatalf("message %d is not what was sent", n)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, s := range sent {
		if err := s.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// What waits, waits no longer than its context.
func TestReceiveEndsWithItsContext(t *testing.T) {
	at := brokertest.New(t, 2, broker.DefaultLimits).Listen(t)
	l := listen(t, at[1], 7)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := l.Receive(ctx)
	wantError(t, err, context.Canceled)
	c := dial(t, at[0])
	_, err = c.Call(ctx, "h1-2", 7, nil)
	wantError(t, err, context.Canceled)
}

// What no host writes ends the connection, and harms nothing.
func FuzzHost(f *testing.F) {
	welcome := func(data string) []byte {
		h := frame.Header{Kind: frame.Welcome, Service: frame.Version, ID: 1000, Length: uint32(len(data))}
		return append(h.Append(nil), data...)
	}
	f.Add(welcome("h1-1\nh1-2"))
	f.Add((&frame.Header{Kind: frame.Message, Host: 1, ID: 5}).Append(welcome("h1-1\nh1-2")))
	f.Add((&frame.Header{Kind: frame.Farewell, Code: frame.Ended}).Append(welcome("h1-1")))
	f.Add((&frame.Header{Kind: frame.Answer, ID: 1, Length: 1 << 30}).Append(welcome("h1-1\nh1-2")))
	f.Fuzz(func(t *testing.T, stream []byte) {
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				conn.Write(stream)
				conn.(*net.UnixConn).CloseWrite()
				io.Copy(io.Discard, conn)
				conn.Close()
			}
		}()
		if c, err := message.Dial(t.Context(), path); err == nil {
			_, err := c.Call(t.Context(), "h1-2", 7, nil)
			if err == nil && !bytes.Contains(stream, []byte{byte(frame.Answer)}) {
				t.Error("a request was answered by nobody")
			}
			c.Close()
		}
		if l, err := message.Listen(t.Context(), path, 7); err == nil {
			for err == nil {
				_, err = l.Receive(t.Context())
			}
			l.Close()
		}
	})
}
