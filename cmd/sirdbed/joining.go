package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"sirdbed/emu"
)

// joinPort is the TCP port at which peers of devices join a run, unless told otherwise.
const joinPort = 47097

// joinTokenVar is the token of a run that peers join, at both ends.
const joinTokenVar = "SIRDBED_JOIN_TOKEN"

// joining is how peers of devices join a run.
type joining struct {
	listen string // "": none do
	within time.Duration
}

// hostsThatJoin are the hosts of experiments that peers are to be.
func hostsThatJoin(experiments []emu.Experiment) []string {
	if len(experiments) == 0 {
		return nil
	}
	return experiments[0].Joining() // a scenario has one fabric
}

// check reports what keeps peers from joining, and completes the address.
func (j *joining) check(engine emu.EngineName, hosts []string) (err error) {
	admits := engines[engine].admit != nil
	switch {
	case j.within <= 0:
		return badInput(errors.New("--join-within: want more than 0s"))
	case j.listen != "" && !admits:
		return badInput(fmt.Errorf("--join-listen: the engine %s takes no devices, whose peers could join", engine))
	case j.listen != "" && len(hosts) == 0:
		return badInput(errors.New("--join-listen: no host of the scenario has join: true"))
	case j.listen == "" && admits && len(hosts) > 0:
		return badInput(fmt.Errorf("host %s joins by sirdbed node join: say where that finds the run, by "+
			"--join-listen and an address of this machine", hosts[0]))
	case j.listen == "":
		return nil
	}
	if j.listen, err = joinAddress(j.listen); err != nil {
		return badInput(fmt.Errorf("--join-listen: %w", err))
	}
	return nil
}

// joinAddress is an address with its port.
func joinAddress(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = text, ""
	}
	if _, err := netip.ParseAddr(host); err != nil {
		return "", fmt.Errorf("%q: want an IP address of the machine of the run, with a port or without: 192.0.2.1:%d",
			text, joinPort)
	}
	port = cmp.Or(port, strconv.Itoa(joinPort))
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q is no port: want 1 to 65535", port)
	}
	return net.JoinHostPort(host, port), nil
}
