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

func (e *NotSupportedError) Error() string {
	if e.Instead != "" {
		return fmt.Sprintf("%s takes %s (%v); the virtual engine has %s instead "+
			"(sirdbed kernel build, then --engine virtual)", e.Feature, e.Option, e.Err, e.Instead)
	}
	if strings.HasPrefix(e.Option, "CONFIG_") {
		return fmt.Sprintf(
			"%s: this kernel lacks %s (%v); most distributions' have it, and so has that of the virtual "+
				"engine (sirdbed kernel build, then --engine virtual)", e.Feature, e.Option, e.Err)
	}
	return fmt.Sprintf("%s takes %s (%v); the virtual engine does without "+
		"(sirdbed kernel build, then --engine virtual)", e.Feature, e.Option, e.Err)
}

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
