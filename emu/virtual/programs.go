//go:build linux

package virtual

import (
	"cmp"
	"os"
	"time"

	"sirdbed/emu"
	"sirdbed/topo"
)

// Programs in a guest: of scenarios (apps) and of fabrics that are kept up.

// programMemory is what a program may take.
const programMemory = 64 << 20

// programEnvironment is that of programs, the same for every run. The garbage collector
// of Go programs is on: with one processor, of which they know, it does not spin.
var programEnvironment = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/run",
	"TMPDIR=/run/tmp", "LANG=C.UTF-8"}

// spinLimit is how much processor time of the machine a guest may take, while its clock
// stands still, before a program in it counts as one that spins.
const spinLimit = 20 * time.Second

func (e *Engine) spinLimit() time.Duration { return cmp.Or(e.SpinLimit, spinLimit) }

// forPrograms fills in what the guest of a run with programs needs: it sees all that this
// user may see, since programs may be anywhere, and they are watched.
func (e *Engine) forPrograms(x *emu.Experiment, j *job) (show []string, spins time.Duration, err error) {
	if len(x.Apps) == 0 {
		return nil, 0, nil
	}
	j.Dir, err = os.Getwd()
	return []string{"/"}, e.spinLimit(), err
}

// upMemory is what the guest of a fabric without traffic may use, in bytes.
func upMemory(f *topo.Fabric, x *emu.Experiment) int64 {
	const node, programs = 2 << 20, 768 << 20
	size := guestMemory + programs + int64(len(f.Nodes))*node
	if x.Serves() {
		size += int64(len(f.Hosts)) * (hostMemory + serveMemory)
	}
	return size
}
