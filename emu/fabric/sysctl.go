//go:build linux

package fabric

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sirdbed/topo"
)

// A setting is a sysctl of a namespace, by its path below /proc/sys/net.
type setting struct {
	path, value string
	optional    bool // some kernels have not the one or the other
}

// settings lists what a node's namespace needs, before it has interfaces: they
// take their own values from conf/default. A new namespace begins with the
// values of the machine's own, so that nothing can be taken for granted.
func settings(kind topo.Kind, hashSeed uint32) []setting {
	all := []setting{
		{"ipv6/conf/all/disable_ipv6", "1", true}, // and default with it
		{"ipv4/conf/all/rp_filter", "0", false},
		{"ipv4/conf/default/rp_filter", "0", false},
		{"ipv4/conf/all/arp_notify", "0", false},
		{"ipv4/conf/default/arp_notify", "0", false},
	}
	if kind == topo.Host {
		// Without forwarding the kernel drops, silently, what is addressed
		// to the transport's address (ip_error of net/ipv4/route.c).
		return append(all,
			setting{"ipv4/ip_forward", "0", false},
			// Linux's own default, whatever this machine has. BBR arms a timer for each
			// packet, where segments are not offloaded: in a virtual machine that is a third
			// of 1 Gbps.
			setting{congestionPath, defaultControl, true},
		)
	}
	return append(all,
		setting{"ipv4/ip_forward", "1", false},
		setting{"ipv4/conf/all/send_redirects", "0", false},
		setting{"ipv4/conf/default/send_redirects", "0", false},
		setting{"ipv4/fib_multipath_hash_policy", "1", false}, // addresses and ports
		setting{hashSeedPath, strconv.FormatUint(uint64(hashSeed), 10), true},
	)
}

// defaultControl is the congestion control of programs' TCP unless they choose another.
const (
	congestionPath = "ipv4/tcp_congestion_control"
	defaultControl = "cubic"
)

// available reports whether this kernel has a congestion control.
func available(control string) bool {
	list, err := os.ReadFile(sysctlPath("ipv4/tcp_available_congestion_control"))
	return err == nil && slices.Contains(strings.Fields(string(list)), control)
}

const (
	hashSeedPath = "ipv4/fib_multipath_hash_seed" // Linux 6.11
	hashSeedName = "ipv4.fib_multipath_hash_seed"
)

// sysctls writes settings into new namespaces. All are born alike, so those that
// the first one has right already are skipped in all.
type sysctls struct {
	wanted map[topo.Kind][]setting
	absent map[string]bool
	ready  bool
	// byRoutes says that defaultControl has to be set by the routes of hosts: a kernel
	// whose own default is another one, and which has not been told to allow this one,
	// lets no namespace but the first have it as its default (tcp_set_default_congestion_control
	// in net/ipv4/tcp_cong.c).
	byRoutes bool
}

// apply writes the settings for a kind of node into the calling thread's
// namespace.
func (s *sysctls) apply(kind topo.Kind) error {
	if !s.ready {
		if err := s.survey(); err != nil {
			return err
		}
	}
	for _, w := range s.wanted[kind] {
		if err := writeSysctl(w.path, w.value); err != nil {
			return err
		}
	}
	return nil
}

// survey reads the calling thread's new namespace and strikes out what need not
// or cannot be written.
func (s *sysctls) survey() error {
	s.absent = map[string]bool{}
	for kind, list := range s.wanted {
		var left []setting
		for _, w := range list {
			now, err := os.ReadFile(sysctlPath(w.path))
			switch {
			case errors.Is(err, fs.ErrNotExist) && w.optional:
				s.absent[w.path] = true
			case err != nil:
				return fmt.Errorf("read sysctl: %w", err)
			case string(bytes.TrimSpace(now)) == w.value:
			case w.path == congestionPath && !available(w.value):
				s.absent[w.path] = true
			case w.path == congestionPath && errors.Is(writeSysctl(w.path, w.value), unix.EPERM):
				s.absent[w.path], s.byRoutes = true, true
			default:
				left = append(left, w)
			}
		}
		s.wanted[kind] = left
	}
	s.ready = true
	return nil
}

func sysctlPath(path string) string { return "/proc/sys/net/" + path }

// writeSysctl goes straight to the kernel: os.File would make each of a
// thousand files known to the poller.
func writeSysctl(path, value string) error {
	name := sysctlPath(path)
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		_, err = unix.Write(fd, []byte(value))
		unix.Close(fd)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("set sysctl %s to %s: %w; /proc/sys is mounted read-only, as in a container: "+
			"run it with --privileged, or let sirdbed make its own namespaces (package sandbox)", name, value, err)
	default:
		return fmt.Errorf("set sysctl %s to %s: %w", name, value, err)
	}
}
