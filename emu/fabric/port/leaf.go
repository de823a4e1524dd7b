//go:build linux

package port

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
)

// Attributes and flags of RED (include/uapi/linux/pkt_sched.h).
const (
	tcaREDParms = 1
	tcaREDStab  = 2
	tcaREDMaxP  = 3
	tcaREDFlags = 4

	redECN    = 1
	redNoDrop = 8
)

// level adds the queue of a level.
func (p tree) level(c *Config, level int) {
	handle := levelQueue + uint32(level)<<16
	_, parent := c.server(level)
	if c.Mark > 0 && c.Marker != emu.EBPF {
		p.red(handle, parent, uint32(c.Mark), uint32(c.Limit))
		return
	}
	p.fifo(handle, parent, "bfifo", uint32(c.Limit))
}

// fifo adds a queue with a limit in bytes (bfifo) or packets (pfifo).
func (p tree) fifo(handle, parent uint32, kind string, limit uint32) {
	p.qdisc(kind, handle, parent)
	p.b.Attr(unix.TCA_OPTIONS, binary.NativeEndian.AppendUint32(nil, limit)) // struct tc_fifo_qopt
}

// red adds a queue that marks every packet that finds at least step bytes
// waiting. sch_red makes a bfifo of the given limit below it, where they wait.
//
// RED averages; with Wlog 0 its average is the queue itself (red_calc_qavg of
// include/net/red.h), and with both thresholds at the step nothing is left to
// chance. After an idle time the average decays by STAB instead: entries of 31
// forget it at once. Zeros would halve it, and mark the first packets of a new
// burst for the queue of the last one.
func (p tree) red(handle, parent, step, limit uint32) {
	p.qdisc("red", handle, parent)
	p.b.Nest(unix.TCA_OPTIONS, nil, func() {
		var opt [16]byte // struct tc_red_qopt: limit, qth_min, qth_max, Wlog, Plog, Scell_log, flags
		binary.NativeEndian.PutUint32(opt[0:], limit)
		binary.NativeEndian.PutUint32(opt[4:], step)
		binary.NativeEndian.PutUint32(opt[8:], step)
		p.b.Attr(tcaREDParms, opt[:])
		p.b.Attr(tcaREDStab, bytes.Repeat([]byte{31}, 256))
		p.b.Uint32(tcaREDMaxP, 0xffffffff)
		// NODROP only exists in the bit field (value, selector).
		flags := binary.NativeEndian.AppendUint32(nil, redECN|redNoDrop)
		p.b.Attr(tcaREDFlags, binary.NativeEndian.AppendUint32(flags, redECN|redNoDrop))
	})
}
