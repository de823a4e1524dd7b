//go:build !portable

package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/virtual"
)

// The processes that keep a guest's fabric up run programs in it for others, who ask by a
// socket without a file: it is gone when they are. Only this user's processes may ask.

// A request is the first line of whoever asks, and a message each further one.
type request struct {
	List   bool          `json:"list,omitempty"` // name the programs that run, and nothing else
	Order  virtual.Order `json:"order"`
	Input  []byte        `json:"input,omitempty"`
	Signal int           `json:"signal,omitempty"` // in a message: send it to the program
}

// An answer is one line of the reply.
type answer struct {
	Programs []Program `json:"programs,omitempty"`
	Stream   int       `json:"stream,omitempty"` // 1 or 2: Text was printed; 0: the program has ended
	Text     []byte    `json:"text,omitempty"`
	Exit     int       `json:"exit"`
}

// onVirtual keeps the fabric up in a guest.
func (s *standing) onVirtual(ctx context.Context) error {
	engine, ok := engines[s.r.engine].make(whileUp{}).(*virtual.Engine)
	if !ok {
		return fmt.Errorf("the engine %s has no guest", s.r.engine)
	}
	socket := "sirdbed-" + rand.Text()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: "@" + socket})
	if err != nil {
		return fmt.Errorf("the socket for exec: %w", err)
	}
	defer listener.Close()
	withdraw := func() {}
	err = engine.Up(ctx, s.x, func(up *virtual.Standing) (err error) {
		state := State{Socket: socket}
		for _, n := range s.r.scenario.Fabric().Nodes {
			state.Nodes = append(state.Nodes, NodeState{Name: n.Name})
		}
		go serveAsked(listener, up)
		withdraw, err = s.publish(state, up.Dilation, emu.Features{Wires: emu.Netem})
		return err
	})
	withdraw()
	return err
}

// serveAsked answers whoever connects, until the listener is closed.
func serveAsked(listener *net.UnixListener, up *virtual.Standing) {
	for {
		conn, err := listener.AcceptUnix()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			if ownPeer(conn) {
				serveOne(conn, up)
			}
		}()
	}
}

// ownPeer reports whether the other end is this user's, or root's.
func ownPeer(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var peer *unix.Ucred
	_ = raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return err == nil && peer != nil && (int(peer.Uid) == os.Getuid() || peer.Uid == 0)
}

// serveOne runs a program for whoever asks, and ends it when they are gone.
func serveOne(conn net.Conn, up *virtual.Standing) {
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	var ask request
	if in.Decode(&ask) != nil {
		return
	}
	if ask.List {
		var list []Program
		up.Programs(func(number int, node, command string) { list = append(list, Program{number, node, command}) })
		slices.SortFunc(list, func(a, b Program) int { return a.PID - b.PID })
		_ = out.Encode(answer{Programs: list})
		return
	}
	events := make(chan virtual.Event, 64)
	over := make(chan struct{}) // nobody takes events any more
	number, err := up.Run(ask.Order, ask.Input, func(e virtual.Event) {
		select {
		case events <- e:
		case <-over:
		}
	})
	if err != nil {
		_ = out.Encode(answer{Text: []byte(err.Error()), Exit: exitFailed})
		return
	}
	defer close(over)
	go func() {
		for {
			var message request
			if in.Decode(&message) != nil {
				_ = up.Signal(number, syscall.SIGKILL)
				return
			}
			if message.Signal != 0 {
				_ = up.Signal(number, syscall.Signal(message.Signal))
			}
		}
	}()
	for e := range events {
		if out.Encode(answer{Stream: e.Stream, Text: e.Text, Exit: e.Exit}) != nil || e.Stream == 0 {
			return
		}
	}
}

// dial connects to the process that keeps a guest's fabric up.
func (s *State) dial() (*net.UnixConn, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: "@" + s.Socket})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Run, err)
	}
	return conn, nil
}

// maxInput is how much a program in a guest may be given to read.
const maxInput = 64 << 20

// ask has a program run in a guest's fabric, and ends as it does.
func (s *State) ask(node string, command []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	ask := request{Order: virtual.Order{Node: node, Argv: command, Dir: dir, Env: forGuest(os.Environ())}}
	if !isTerminal(os.Stdin) {
		if ask.Input, err = io.ReadAll(io.LimitReader(os.Stdin, maxInput+1)); err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		if len(ask.Input) > maxInput {
			return badInput(fmt.Errorf("standard input has more than %d MB, which a program in a guest is given at "+
				"once", maxInput>>20))
		}
	}
	conn, err := s.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	out := json.NewEncoder(conn)
	if err := out.Encode(ask); err != nil {
		return fmt.Errorf("%s: %w", s.Run, err)
	}
	signals := make(chan os.Signal, 4)
	signal.Reset(os.Interrupt, syscall.SIGTERM) // exec passes them on
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for sig := range signals {
			_ = out.Encode(request{Signal: int(sig.(syscall.Signal))})
		}
	}()
	in := json.NewDecoder(conn)
	for {
		var a answer
		if err := in.Decode(&a); err != nil {
			return fmt.Errorf("%s is gone, and %s with it: %w", s.Run, command[0], err)
		}
		switch a.Stream {
		case 1:
			_, err = os.Stdout.Write(a.Text)
		case 2:
			_, err = os.Stderr.Write(a.Text)
		default:
			if len(a.Text) > 0 {
				fmt.Fprintf(os.Stderr, "sirdbed: %s: %s\n", command[0], a.Text)
			}
			if a.Exit != 0 {
				return &codedError{a.Exit, errReported}
			}
			return nil
		}
		if err != nil && !errors.Is(err, syscall.EPIPE) {
			return err
		}
	}
}

// forGuest is what of an environment is for a program in a guest too.
func forGuest(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "SIRDBED_") || name == "PATH" || name == "HOME" || name == "TMPDIR"
	})
}

// programsInGuest lists the programs in a guest's fabric. Their PIDs are numbers of
// the keeper's.
func (s *State) programsInGuest() []Program {
	conn, err := s.dial()
	if err != nil {
		return nil
	}
	defer conn.Close()
	var a answer
	if json.NewEncoder(conn).Encode(request{List: true}) != nil || json.NewDecoder(conn).Decode(&a) != nil {
		return nil
	}
	return a.Programs
}
