//go:build linux

package device

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/emu/fabric/rtnl"
)

// programName is what bpftool and tc show, and how Restore knows the filters that a
// killed run has left.
const programName = "sirdbed_device"

// Of struct __sk_buff (include/uapi/linux/bpf.h), and results of programs: those of TCX
// and of filters in direct action are the same.
const (
	skbProtocol     = 16 // in network byte order
	skbIngressIndex = 36 // where the frame arrived, 0 if it is the machine's own
	tcxNext         = -1
	tcxDrop         = 2
)

// networkOrder is a protocol as a frame has it.
func networkOrder(protocol uint16) int32 { return int32(protocol>>8 | protocol<<8&0xff00) }

// arrivals sends what arrives to the egress of another interface: IPv4 and ARP. What
// nobody on a leaf takes, such as neighbor solicitations and LLDP, ends here, where no
// counter of a port knows it.
func arrivals(other int) *ebpf.ProgramSpec {
	return program(asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, skbProtocol, asm.Word),
		asm.JEq.Imm(asm.R2, networkOrder(unix.ETH_P_IP), "redirect"),
		asm.JEq.Imm(asm.R2, networkOrder(unix.ETH_P_ARP), "redirect"),
		asm.Mov.Imm(asm.R0, tcxDrop),
		asm.Return(),
		asm.Mov.Imm(asm.R1, int32(other)).WithSymbol("redirect"),
		asm.Mov.Imm(asm.R2, 0), // egress
		asm.FnRedirect.Call(),
		asm.Return(),
	})
}

// departures drops what has not arrived at another interface: what the machine itself
// sends.
func departures(other int) *ebpf.ProgramSpec {
	return program(asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, skbIngressIndex, asm.Word),
		asm.Mov.Imm(asm.R0, tcxNext),
		asm.JEq.Imm(asm.R2, int32(other), "pass"),
		asm.Mov.Imm(asm.R0, tcxDrop),
		asm.Return().WithSymbol("pass"),
	})
}

func program(code asm.Instructions) *ebpf.ProgramSpec {
	return &ebpf.ProgramSpec{Name: programName, Type: ebpf.SchedCLS, Instructions: code, License: "GPL"}
}

// joint holds the programs that join two interfaces of the calling thread's namespace.
type joint struct {
	links []link.Link
}

// classic has a joint made of filters where there is TCX too, for tests.
var classic = false

// join joins two interfaces. Departures come first: nothing of the machine's own leaves.
func join(c *rtnl.Conn, a, b *Link) (*joint, error) {
	j := &joint{}
	for _, side := range []struct {
		at, other *Link
		in        bool
	}{{a, b, false}, {b, a, false}, {b, a, true}, {a, b, true}} {
		if err := j.attach(c, side.at, side.other, side.in); err != nil {
			return nil, errors.Join(programError(err), j.close())
		}
	}
	return j, nil
}

func (j *joint) attach(c *rtnl.Conn, at, other *Link, in bool) error {
	spec, where := departures(other.Index), ebpf.AttachTCXEgress
	if in {
		spec, where = arrivals(other.Index), ebpf.AttachTCXIngress
	}
	p, err := ebpf.NewProgram(spec)
	if err != nil {
		return err
	}
	defer p.Close()
	if !classic {
		l, err := link.AttachTCX(link.TCXOptions{Interface: at.Index, Program: p, Attach: where, Anchor: link.Head()})
		if err == nil {
			j.links = append(j.links, l)
			return nil
		}
		if !errors.Is(err, ebpf.ErrNotSupported) {
			return fmt.Errorf("%s: %w", at.Name, err)
		}
	}
	return addFilter(c, at, p, in)
}

// close takes the programs off that are held by links.
func (j *joint) close() (err error) {
	for _, l := range j.links {
		err = errors.Join(err, l.Close())
	}
	j.links = nil
	return err
}

// TryLinks attaches a program to the loopback interface by a link, and takes it off.
func TryLinks() error {
	p, err := ebpf.NewProgram(departures(rtnl.Loopback))
	if err != nil {
		return err
	}
	defer p.Close()
	l, err := link.AttachTCX(link.TCXOptions{Interface: rtnl.Loopback, Program: p, Attach: ebpf.AttachTCXEgress})
	if err != nil {
		return err
	}
	return l.Close()
}

// programError makes lacking rights and features errors of their own.
func programError(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, ebpf.ErrNotSupported) || errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("programs that join a device to the fabric: %w; they need root outside of user namespaces, "+
			"and a kernel with CONFIG_BPF_SYSCALL and TCX (Linux 6.6) or CONFIG_NET_CLS_BPF: %w", err,
			emu.ErrNotSupported)
	}
	return fmt.Errorf("programs that join a device to the fabric: %w", err)
}
