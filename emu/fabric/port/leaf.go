//go:build linux

package port

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
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

// fifo adds a queue with a limit in bytes (bfifo) or packets (pfifo).
func (p tree) fifo(handle, parent uint32, kind string, limit uint32) {
	p.qdisc(kind, handle, parent)
	p.b.Attr(unix.TCA_OPTIONS, binary.NativeEndian.AppendUint32(nil, limit)) // struct tc_fifo_qopt
}

// red adds the qdisc that marks every packet that finds at least step bytes waiting in
// what is below it, all levels together. It is made without a queue of its own (limit 0).
//
// RED averages; with Wlog 0 its average is the queue itself (red_calc_qavg of
// include/net/red.h), and with both thresholds at the step nothing is left to
// chance. After an idle time the average decays by STAB instead: entries of 31
// forget it at once. Zeros would halve it, and mark the first packets of a new
// burst for the queue of the last one.
func (p tree) red(handle, parent, step uint32) {
	p.qdisc("red", handle, parent)
	p.b.Nest(unix.TCA_OPTIONS, nil, func() {
		var opt [16]byte // struct tc_red_qopt: limit, qth_min, qth_max, Wlog, Plog, Scell_log, flags
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
