//go:build linux

package guest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The guest's memory is a file that its kernel makes in $TMPDIR and never names.
// Where the machine allows it, that is a file system in memory of the guest's own:
// in huge pages, which cost a five-hundredth of the faults, and in no mount
// namespace, so that it is gone with the last who has it open. Otherwise it is in
// the scratch directory.

// ownMemory returns the root of a new file system in memory.
func ownMemory() (*os.File, error) {
	own, err := mountMemory()
	if errors.Is(err, unix.EPERM) {
		own, err = borrowMemory()
	}
	return own, err
}

// ProbeHugePages returns what keeps this user's guests from memory in huge pages, for
// which TMPDIR must not be set besides.
func ProbeHugePages() error {
	own, err := ownMemory()
	if err == nil {
		own.Close()
	}
	return err
}

// mountMemory makes the file system. It takes CAP_SYS_ADMIN.
func mountMemory() (*os.File, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("fsopen: %w", err)
	}
	defer unix.Close(fs)
	for _, option := range [][2]string{{"huge", "always"}, {"mode", "0700"}} {
		if err := unix.FsconfigSetString(fs, option[0], option[1]); err != nil {
			return nil, fmt.Errorf("tmpfs: %s=%s: %w", option[0], option[1], err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return nil, fmt.Errorf("tmpfs: %w", err)
	}
	root, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return nil, fmt.Errorf("fsmount: %w", err)
	}
	return os.NewFile(uintptr(root), "the guest's memory"), nil
}

// An ordinary user has that right in a user namespace of his own only, which takes
// a process that makes the file system there and hands it over.

const memoryArgument = "guest-memory"

// borrowTime is how long that process may take, by the wall clock.
const borrowTime = 5 * time.Second

func borrowMemory() (*os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(pair[0])
	theirs := os.NewFile(uintptr(pair[1]), "socket")
	defer theirs.Close()
	ctx, cancel := context.WithTimeout(context.Background(), borrowTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", memoryArgument)
	cmd.Stdin = theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	if cmd.Start() != nil {
		return nil, errors.New("it takes a user namespace, which is refused here") // by whom, doctor knows
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("the guest's memory: no file system in a user namespace: %w", err)
	}
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(pair[0], make([]byte, 1), control, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, err
	}
	var fds []int
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err == nil && len(messages) == 1 {
		fds, err = unix.ParseUnixRights(&messages[0])
	}
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("the guest's memory: no file system came (%v)", err)
	}
	return os.NewFile(uintptr(fds[0]), "the guest's memory"), nil
}

// offerMemory is the process of borrowMemory: standard input is the socket.
func offerMemory() error {
	own, err := mountMemory()
	if err != nil {
		return err
	}
	return unix.Sendmsg(0, []byte{0}, unix.UnixRights(int(own.Fd())), nil, 0)
}
