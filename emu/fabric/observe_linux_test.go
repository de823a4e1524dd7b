package fabric

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// offload reads one of an interface's offloads in the thread's namespace, with
// ETHTOOL_GTXCSUM and its like.
func offload(device string, command uint32) (uint32, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	arg := struct{ command, value uint32 }{command: command} // struct ethtool_value
	var ifr struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte // the rest of the kernel's union
	}
	copy(ifr.name[:unix.IFNAMSIZ-1], device)
	ifr.data = unsafe.Pointer(&arg)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifr)))
	if errno != 0 {
		return 0, errno
	}
	return arg.value, nil
}
