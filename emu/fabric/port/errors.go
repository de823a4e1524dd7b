//go:build linux

package port

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric/rtnl"
)

// NotSupportedError is about something that is missing, and who does without.
type NotSupportedError struct {
	Feature string // "ECN marking (sch_red)"
	Option  string // a kernel option ("CONFIG_NET_SCH_RED, ..."), or what else it takes in words
	Err     error  // what was seen

	// Instead, when set, is what takes its place in the virtual engine, whose
	// kernel does not have it either.
	Instead string
}

// Error says what is missing and where it can be had.
func (e *NotSupportedError) Error() string {
	const command = "sirdbed kernel build, then --engine virtual"
	switch {
	case e.Instead != "":
		return fmt.Sprintf("%s; the virtual engine has %s instead (%s)", e.Missing(), e.Instead, command)
	case e.ofKernel():
		return fmt.Sprintf("%s; most distributions' have it, and so has that of the virtual engine (%s)",
			e.Missing(), command)
	}
	return fmt.Sprintf("%s; the virtual engine does without (%s)", e.Missing(), command)
}

// Missing says what is missing, without advice.
func (e *NotSupportedError) Missing() string {
	if e.Instead == "" && e.ofKernel() {
		return fmt.Sprintf("%s: this kernel lacks %s (%v)", e.Feature, e.Option, e.Err)
	}
	return fmt.Sprintf("%s takes %s (%v)", e.Feature, e.Option, e.Err)
}

func (e *NotSupportedError) ofKernel() bool { return strings.HasPrefix(e.Option, "CONFIG_") }

// Is makes it match emu.ErrNotSupported.
func (e *NotSupportedError) Is(target error) bool { return target == emu.ErrNotSupported }

// Unwrap returns what was seen.
func (e *NotSupportedError) Unwrap() error { return e.Err }

// options names what a request needs of the kernel, the most particular first.
var options = []struct{ request, feature, option, instead string }{
	{"action mirred", "redirection (act_mirred)", "CONFIG_NET_ACT_MIRRED", ""},
	{"qdisc htb", "shaping (sch_htb)", "CONFIG_NET_SCH_HTB", ""},
	{"qdisc red", "ECN marking (sch_red)", "CONFIG_NET_SCH_RED", ""},
	{"qdisc prio", "strict priorities (sch_prio)", "CONFIG_NET_SCH_PRIO", ""},
	{"qdisc netem", "wires (sch_netem)", "CONFIG_NET_SCH_NETEM", ""},
	{"qdisc bfifo", "byte-limited queues (sch_fifo)", "CONFIG_NET_SCH_FIFO", ""},
	{"qdisc pfifo", "packet-limited queues (sch_fifo)", "CONFIG_NET_SCH_FIFO", ""},
	{"qdisc clsact", "redirection and eBPF marking (sch_ingress)", "CONFIG_NET_SCH_INGRESS", ""},
	{"filter bpf", "ECN marking (cls_bpf)", "CONFIG_NET_CLS_BPF", "sch_red"},
	{"filter u32", "classification (cls_u32)", "CONFIG_NET_CLS_U32", ""},
	{"link ifb", "wires (ifb devices)", "CONFIG_IFB", ""},
	{"link veth", "links (veth devices)", "CONFIG_VETH", ""},
}

// Explain turns the kernel's refusal of something it does not have into a
// *NotSupportedError, and leaves every other error alone.
func Explain(err error) error {
	var op *rtnl.OpError
	if !errors.As(err, &op) || op.Err != unix.ENOENT && op.Err != unix.EOPNOTSUPP {
		return err
	}
	for _, o := range options {
		if strings.Contains(op.Op, o.request) {
			return &NotSupportedError{Feature: o.feature, Option: o.option, Err: err, Instead: o.instead}
		}
	}
	return err
}
