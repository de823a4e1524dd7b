//go:build !portable

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"

	"sirdbed/emu"
	"sirdbed/emu/real"
	"sirdbed/emu/sandbox"
	"sirdbed/sirdnode/endpoint/join"
)

// realKind is the engine real. Peers of devices join it by a gate that all variants have.
func realKind() engineKind {
	var gate *join.Gate
	return engineKind{
		room:  real.CheckLimits,
		enter: enterSandbox,
		admit: func(r *scenarioRun) (release func(), err error) {
			if gate, err = openGate(r); err != nil {
				return nil, err
			}
			return gate.Close, nil
		},
		make: func(up whileUp) emu.Engine {
			e := realEngine(up)
			e.Gate = gate
			return e
		},
	}
}

// keptListener is which of the files that a worker has kept is where peers join, after
// those of deviceGuard.
const keptListener = 2

// listenForPeers opens what the worker is kept, in the machine's network namespace, and
// prints what to type at the peers.
func listenForPeers(j joining, hosts []string) (*os.File, error) {
	listener, err := net.Listen("tcp", j.listen)
	if err != nil {
		return nil, fmt.Errorf("--join-listen: %w", listenError(j.listen, err))
	}
	defer listener.Close()
	token := ""
	if os.Getenv(joinTokenVar) == "" {
		token = join.NewToken()
		os.Setenv(joinTokenVar, token)
		token = " --token " + token
	}
	fmt.Fprintf(os.Stderr, "peers join at %s; at the other end of each cable, whose interface is $DEV:\n", j.listen)
	for _, h := range hosts {
		name := ""
		if len(hosts) > 1 {
			name = " --host " + h
		}
		fmt.Fprintf(os.Stderr, "  sudo sirdbed node join %s --interface $DEV%s%s\n", typed(j.listen), name, token)
	}
	return listener.(*net.TCPListener).File()
}

// typed is what peers type for an address: $HOST for all of this machine, of which they know
// one.
func typed(listen string) string {
	if at, err := netip.ParseAddrPort(listen); err == nil && at.Addr().IsUnspecified() {
		return fmt.Sprintf("$HOST:%d", at.Port())
	}
	return listen
}

func listenError(address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use: another run waits there", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s is no address of this machine", address)
	}
	return err
}

// openGate has peers join, in the worker.
func openGate(r *scenarioRun) (*join.Gate, error) {
	kept := sandbox.Kept()
	if len(kept) <= keptListener {
		return nil, errors.New("there is nothing that peers could join by: run it with sudo")
	}
	file := os.NewFile(uintptr(kept[keptListener]), "listener")
	listener, err := net.FileListener(file)
	file.Close()
	if err != nil {
		return nil, fmt.Errorf("peers cannot join: %w", err)
	}
	build, err := thisBuild()
	if err != nil {
		return nil, err
	}
	token := os.Getenv(joinTokenVar)
	os.Unsetenv(joinTokenVar) // programs need not know
	return join.Open(listener, join.GateConfig{
		Token: token, Build: build, Hosts: hostsThatJoin(r.experiments), MTU: r.scenario.Fabric().Spec.MTU,
		Wait: r.joining.within,
		Note: func(text string) {
			if !r.json {
				fmt.Fprintln(r.stderr, text)
			}
		},
	}), nil
}

// thisBuild is what both ends have to be.
func thisBuild() (b join.Build, err error) {
	file, err := os.Open("/proc/self/exe")
	if err != nil {
		return b, err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return b, fmt.Errorf("the checksum of this program: %w", err)
	}
	return join.Build{Checksum: hex.EncodeToString(h.Sum(nil)), Version: buildVersion().String()}, nil
}

// tokenOf is the token that a peer was given.
func tokenOf(flag string) (string, error) {
	token := strings.TrimSpace(flag)
	if token == "" {
		token = os.Getenv(joinTokenVar)
	}
	if token == "" {
		return "", badInput(fmt.Errorf("there is no token: sirdbed run prints it, for --token or $%s", joinTokenVar))
	}
	return token, nil
}
