//go:build linux && !portable

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sirdbed/emu/thread"
)

// A cluster is Slurm on this machine: a controller and two nodes, n1 and n2, of one processor
// each. Its daemons have a network of their own, with this machine's ports all free, and each
// has its process namespace, of which it is the first process: whoever kills it kills all that it
// has started. They end with the test, and with the test's process.
type cluster struct {
	t       *testing.T
	dir     string
	thread  *thread.Thread // inside the network
	daemons map[string]*exec.Cmd
}

// newCluster starts Slurm. The test is skipped where it is not installed, or not by root.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("Slurm's daemons start tasks as root alone")
	}
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel"} {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("SIRDBED_REQUIRE_SLURM") == "1" {
				t.Fatalf("SIRDBED_REQUIRE_SLURM=1, and %v", err)
			}
			t.Skipf("%v (apt install slurmctld slurmd slurm-client munge)", err)
		}
	}
	c := &cluster{t: t, dir: t.TempDir(), thread: thread.New(), daemons: map[string]*exec.Cmd{}}
	t.Cleanup(c.end)
	if err := c.thread.Do(newNetwork); err != nil {
		t.Fatal(err)
	}
	c.configure()
	c.start("munged", "munged", "--foreground", "--force", "--key-file="+c.at("key"), "--socket="+c.at("socket"),
		"--pid-file="+c.at("munged.pid"), "--log-file="+c.at("munged.log"), "--seed-file="+c.at("seed"))
	eventually(t, "munged", func() bool { _, err := os.Stat(c.at("socket")); return err == nil })
	c.start("controller", "slurmctld", "-D", "-i")
	for _, node := range []string{"n1", "n2"} {
		c.start(node, "slurmd", "-D", "-N", node)
	}
	eventually(t, "two nodes", func() bool {
		out, err := c.run(exec.Command("sinfo", "--noheader", "--states=idle", "--format=%D"))
		return err == nil && strings.TrimSpace(out) == "2"
	})
	return c
}

// newNetwork gives the thread a network with a loopback interface, which has an address that
// is none of loopback: otherwise getaddrinfo(3) knows no IPv4 (AI_ADDRCONFIG).
func newNetwork() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	other := &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4(10, 0, 0, 1), Mask: net.CIDRMask(32, 32)}}
	return errors.Join(netlink.AddrAdd(lo, other), netlink.LinkSetUp(lo))
}

func (c *cluster) at(name string) string { return filepath.Join(c.dir, name) }

// slurmConf is slurm.conf, with the host's name and the cluster's directory. A node that does
// not answer is down after SlurmdTimeout.
const slurmConf = `
ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/socket
CredType=cred/munge
StateSaveLocation=%[2]s/state
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/%%n.pid
SlurmdSpoolDir=%[2]s/%%n.spool
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SchedulerParameters=sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
SlurmdTimeout=3
MessageTimeout=3
KillWait=1
ReturnToService=2
NodeName=n1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=17001 CPUs=1
NodeName=n2 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=17002 CPUs=1
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
`

// configure writes what the daemons read.
func (c *cluster) configure() {
	host, err := os.Hostname()
	if err != nil {
		c.t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	for name, text := range map[string]string{
		"slurm.conf": fmt.Sprintf(slurmConf, host, c.dir), "key": strings.Repeat("a test's key", 20),
	} {
		if err := os.WriteFile(c.at(name), []byte(text), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, name := range []string{"state", "n1.spool", "n2.spool"} {
		if err := os.Mkdir(c.at(name), 0o755); err != nil {
			c.t.Fatal(err)
		}
	}
}

// start starts a daemon.
func (c *cluster) start(name, program string, args ...string) {
	c.t.Helper()
	const own = `mount --make-rprivate / && mount -t proc proc /proc && exec "$@"`
	cmd := exec.Command("/bin/sh", append([]string{"-c", own, "sh", program}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
	out, err := os.Create(c.at(name + ".out"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := c.launch(cmd); err != nil {
		c.t.Fatal(err)
	}
	c.daemons[name] = cmd
}

// launch starts a program as one of the cluster's machines. It ends with the test's process.
func (c *cluster) launch(cmd *exec.Cmd) error {
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.Env = append(cmd.Env, "SLURM_CONF="+c.at("slurm.conf"))
	return c.thread.Do(cmd.Start)
}

// run runs a program as one of the cluster's machines and returns what it printed.
func (c *cluster) run(cmd *exec.Cmd) (string, error) {
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err := c.launch(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	return out.String(), err
}

// kill kills a daemon with all that it has started, and returns when they are gone.
func (c *cluster) kill(name string) {
	cmd := c.daemons[name]
	delete(c.daemons, name)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // a process namespace's first process ends when the others have
}

// end ends Slurm. A test that failed shows the logs' ends.
func (c *cluster) end() {
	for name := range c.daemons {
		c.kill(name)
	}
	c.thread.Close()
	if !c.t.Failed() {
		return
	}
	logs, _ := filepath.Glob(c.at("*.[lo]*[gt]"))
	for _, path := range logs {
		if text, err := os.ReadFile(path); err == nil {
			c.t.Logf("%s:\n%s", path, text[max(0, len(text)-3000):])
		}
	}
}
