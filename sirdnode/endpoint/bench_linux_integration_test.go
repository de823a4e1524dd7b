//go:build linux

package endpoint

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"sirdbed/baselines/all"
	"sirdbed/sirdnode/endpoint/nexthop"
	"sirdbed/sirdnode/nstest"
	"sirdbed/topo/units"
)

// Endpoints are processes in namespaces of their own: the test binary starts itself again
// as each, with its Role in this variable. A process ends when its standard input does.
const roleVar = "SIRDBED_TEST_ROLE"

// A Role is what such a process is to do.
type Role struct {
	Serve     bool
	Protocol  string
	Params    json.RawMessage `json:",omitempty"`
	Interface string
	Rate      units.BitsPerSecond
	MTU       units.Bytes
	Build     string
	Load      Load
	To        []netip.Addr
}

// An Outcome is what it prints at its end.
type Outcome struct {
	Report Report
	Served Served
	Error  string
}

const opened = "opened"

func TestMain(m *testing.M) {
	text, ok := os.LookupEnv(roleVar)
	if !ok {
		nstest.Main(m)
		return
	}
	var r Role
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		panic(err)
	}
	runtime.GOMAXPROCS(4)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	protocol, err := all.Find(r.Protocol)
	if err != nil {
		panic(err)
	}
	c := Config{
		Protocol: protocol, Params: r.Params, Interface: r.Interface, Rate: r.Rate, MTU: r.MTU, Build: r.Build,
		Opened: func(nexthop.Interface, bool) { fmt.Println(opened) },
	}
	var o Outcome
	if r.Serve {
		o.Served, err = Serve(ctx, ServeConfig{Config: c})
	} else {
		o.Report, err = Send(ctx, c, r.Load, r.To)
	}
	if err != nil {
		o.Error = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(o); err != nil {
		panic(err)
	}
}

// A process is an endpoint.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts an endpoint in a namespace. Its link has 200 Mbps unless the role says
// otherwise: that is little work for a machine that runs both ends.
func start(t testing.TB, in *nstest.Net, r Role) *process {
	t.Helper()
	if r.Rate == 0 {
		r.Rate = 200 * units.Mbps
	}
	if r.Protocol == "" {
		r.Protocol = "sird"
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleVar+"="+string(text))
	cmd.Stderr = os.Stderr
	p := &process{t: t, cmd: cmd}
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := in.Do(cmd.Start); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return p
}

// serve starts one that serves, and waits until it does.
func serve(t testing.TB, in *nstest.Net, r Role) *process {
	t.Helper()
	r.Serve = true
	p := start(t, in, r)
	if line, err := p.out.ReadString('\n'); line != opened+"\n" {
		t.Fatalf("the serving end says %q, %v", line, err)
	}
	return p
}

// stop ends an endpoint as an interrupt would, and returns what it has seen.
func (p *process) stop() Outcome {
	p.t.Helper()
	p.in.Close()
	return p.wait()
}

// wait returns what an endpoint has seen once it has ended, which takes at most 30 s.
func (p *process) wait() (o Outcome) {
	p.t.Helper()
	late := time.AfterFunc(30*time.Second, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			p.t.Fatalf("an endpoint has ended without a report: %v", err)
		}
		if line == opened+"\n" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			p.t.Fatalf("an endpoint reports %q: %v", line, err)
		}
		return o
	}
}

// send runs an endpoint that sends, to its end.
func send(t testing.TB, in *nstest.Net, r Role) Outcome {
	t.Helper()
	return start(t, in, r).wait()
}

// The bench is two machines, side by side or with a router between them:
//
//	near a0 --------- b0 far           10.7.1.1/24, 10.7.1.2/24
//	near a0 --- router --- b0 far      10.7.1.1/24 via .254, 10.7.2.2/24 via .254
type bench struct {
	near, far *nstest.Net
	to        netip.Addr
}

const (
	nearIf = nstest.VethA
	farIf  = nstest.VethB
)

func sideBySide(t testing.TB) *bench {
	t.Helper()
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	b := &bench{nstest.Namespace(t), nstest.Namespace(t), netip.MustParseAddr("10.7.1.2")}
	nstest.Veth(t, b.near, b.far, 1500)
	address(t, b.near, nearIf, "10.7.1.1/24")
	address(t, b.far, farIf, "10.7.1.2/24")
	b.carrier(t)
	return b
}

// carrier waits until the kernel says that both ends run, which may take it a second.
func (b *bench) carrier(t testing.TB) {
	t.Helper()
	for range 200 {
		err := b.near.Do(func() error { _, err := nexthop.ByName(nearIf); return err })
		if err == nil {
			err = b.far.Do(func() error { _, err := nexthop.ByName(farIf); return err })
		}
		if err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the veth pair has no carrier after 2 s")
}

func routed(t testing.TB) (b *bench, router *nstest.Net) {
	t.Helper()
	nstest.RequireNetAdmin(t)
	nstest.Lock(t)
	b = &bench{nstest.Namespace(t), nstest.Namespace(t), netip.MustParseAddr("10.7.2.2")}
	router = nstest.Namespace(t)
	// The router's ends are called b0 towards near, and a0 towards far.
	nstest.Veth(t, b.near, router, 1500)
	nstest.Veth(t, router, b.far, 1500)
	address(t, b.near, nearIf, "10.7.1.1/24")
	address(t, router, farIf, "10.7.1.254/24")
	address(t, router, nearIf, "10.7.2.254/24")
	address(t, b.far, farIf, "10.7.2.2/24")
	for n, via := range map[*nstest.Net]string{b.near: "10.7.1.254", b.far: "10.7.2.254"} {
		if err := n.Handle(t).RouteAdd(&netlink.Route{Gw: net.ParseIP(via)}); err != nil {
			t.Fatalf("route via %s: %v", via, err)
		}
	}
	err := router.Do(func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0) })
	if err != nil {
		t.Fatal(err)
	}
	b.carrier(t)
	return b, router
}

func address(t testing.TB, in *nstest.Net, iface, prefix string) {
	t.Helper()
	h := in.Handle(t)
	link, err := h.LinkByName(iface)
	if err == nil {
		var a *netlink.Addr
		if a, err = netlink.ParseAddr(prefix); err == nil {
			err = h.AddrAdd(link, a)
		}
	}
	if err != nil {
		t.Fatalf("%s at %s: %v", prefix, iface, err)
	}
}

// icmpSent returns how many ICMP messages a namespace's kernel has sent, or wanted to: what
// its limits of rates kept back counts.
func icmpSent(t testing.TB, in *nstest.Net) (n int) {
	t.Helper()
	var text []byte
	err := in.Do(func() (err error) {
		text, err = os.ReadFile("/proc/thread-self/net/snmp")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case fields[0] != "Icmp:" && fields[0] != "Udp:":
		case fields[1] == "InMsgs" || fields[1] == "InDatagrams":
			names = fields
		default:
			for i, name := range names {
				if name == "OutMsgs" || name == "NoPorts" {
					var count int
					if _, err := fmt.Sscan(fields[i], &count); err != nil {
						t.Fatal(err)
					}
					n += count
				}
			}
		}
	}
	return n
}

func down(t testing.TB, in *nstest.Net, iface string) {
	t.Helper()
	h := in.Handle(t)
	link, err := h.LinkByName(iface)
	if err == nil {
		err = h.LinkSetDown(link)
	}
	if err != nil {
		t.Fatal(err)
	}
}
