//go:build linux

package device

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Features are what an interface does of its own accord, by ethtool's names, and
// whether that is asked of it: of those that can be changed.
type Features map[string]bool

// unwanted are the features that make several packets of the wire one, or
// of one several, or take a VLAN's tag away.
var unwanted = []string{
	"rx-gro", "rx-gro-hw", "rx-gro-list", "rx-udp-gro-forwarding", "rx-lro",
	"tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp-mangleid-segmentation", "tx-tcp6-segmentation",
	"tx-generic-segmentation", "tx-udp-segmentation", "tx-gso-list",
	"rx-vlan-hw-parse", "tx-vlan-hw-insert", "rx-vlan-stag-hw-parse", "tx-vlan-stag-hw-insert",
}

const (
	featureSet   = 4  // ETH_SS_FEATURES (include/uapi/linux/ethtool.h)
	stringLength = 32 // ETH_GSTRING_LEN
	blockBits    = 32
	maxFeatures  = 32 * blockBits
)

// readFeatures reads those of an interface. One without ethtool has none.
func readFeatures(device string) (Features, error) {
	names, err := featureNames(device)
	if err == unix.EOPNOTSUPP {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: names of its features: %w", device, err)
	}
	blocks := (len(names) + blockBits - 1) / blockBits
	b := make([]byte, 8+16*blocks) // available, requested, active, never changed
	binary.NativeEndian.PutUint32(b, unix.ETHTOOL_GFEATURES)
	binary.NativeEndian.PutUint32(b[4:], uint32(blocks))
	if err := ethtool(device, b); err != nil {
		return nil, fmt.Errorf("%s: features: %w", device, err)
	}
	list := Features{}
	for i, name := range names {
		at, bit := b[8+16*(i/blockBits):], uint32(1)<<(i%blockBits)
		if name != "" && binary.NativeEndian.Uint32(at)&bit != 0 {
			list[name] = binary.NativeEndian.Uint32(at[4:])&bit != 0
		}
	}
	return list, nil
}

// set asks for features, or that they be left alone.
func (f Features) set(device string) error {
	if len(f) == 0 {
		return nil
	}
	names, err := featureNames(device)
	if err != nil {
		return fmt.Errorf("%s: names of its features: %w", device, err)
	}
	blocks := (len(names) + blockBits - 1) / blockBits
	b := make([]byte, 8+8*blocks) // valid, requested
	binary.NativeEndian.PutUint32(b, unix.ETHTOOL_SFEATURES)
	binary.NativeEndian.PutUint32(b[4:], uint32(blocks))
	for i, name := range names {
		on, given := f[name]
		if !given {
			continue
		}
		at, bit := b[8+8*(i/blockBits):], uint32(1)<<(i%blockBits)
		binary.NativeEndian.PutUint32(at, binary.NativeEndian.Uint32(at)|bit)
		if on {
			binary.NativeEndian.PutUint32(at[4:], binary.NativeEndian.Uint32(at[4:])|bit)
		}
	}
	if err := ethtool(device, b); err != nil {
		return fmt.Errorf("%s: set features: %w", device, err)
	}
	return nil
}

// off are the unwanted features that are on.
func (f Features) off() Features {
	list := Features{}
	for _, name := range unwanted {
		if f[name] {
			list[name] = false
		}
	}
	return list
}

// featureNames lists the names of features by their bits.
func featureNames(device string) ([]string, error) {
	b := make([]byte, 16+4) // a mask of sets, and a length for each
	binary.NativeEndian.PutUint32(b, unix.ETHTOOL_GSSET_INFO)
	binary.NativeEndian.PutUint64(b[8:], 1<<featureSet)
	if err := ethtool(device, b); err != nil {
		return nil, err
	}
	n := min(int(binary.NativeEndian.Uint32(b[16:])), maxFeatures)
	b = make([]byte, 12+n*stringLength)
	binary.NativeEndian.PutUint32(b, unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(b[4:], featureSet)
	binary.NativeEndian.PutUint32(b[8:], uint32(n))
	if err := ethtool(device, b); err != nil {
		return nil, err
	}
	names := make([]string, n)
	for i := range names {
		name, _, _ := strings.Cut(string(b[12+i*stringLength:][:stringLength]), "\x00")
		names[i] = name
	}
	return names, nil
}

// ethtool carries out a command (SIOCETHTOOL), in whose structure the answer is.
func ethtool(device string, command []byte) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var ifr struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte // the rest of the kernel's union
	}
	copy(ifr.name[:unix.IFNAMSIZ-1], device)
	ifr.data = unsafe.Pointer(&command[0])
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifr)))
	if errno != 0 {
		return errno
	}
	return nil
}
