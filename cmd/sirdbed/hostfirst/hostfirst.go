//go:build linux

// Package hostfirst turns a process that was started as a host into one before most
// of the program is initialized. 144 hosts are 144 times that initialisation, and in
// a guest of the virtual engine each page it touches costs some 20 us.
//
// Go initializes packages one at a time: always the first, by import path, of those
// whose imports are initialized (language specification, "Program initialization").
// Whatever needs net waits for vendor/golang.org/x/net/dns/dnsmessage, and whatever
// needs net/netip for weak: paths that sort after sirdbed's. A host needs neither, so
// this package's turn comes before net, net/http, cobra, the plots and all else that
// needs them. Its init function runs the host and ends the process.
//
// Nothing but time depends on that order. Libraries that do without net are
// initialized before the host: TestHostsStartFirst limits what they may allocate.
package hostfirst

import (
	"os"

	"sirdbed/sirdnode/node"
)

// Command is the argument that makes sirdbed a host process. It is no command of
// users: without a controller the process says so and exits with 2.
const Command = "host-process"

func init() {
	if len(os.Args) > 1 && os.Args[1] == Command {
		os.Exit(node.Main())
	}
}
