//go:build linux

// Package launch starts programs inside the nodes of a fabric: in a mount namespace of
// the program's own, whose /etc/hosts has the names of all nodes.
//
// Whoever is in a node's network namespace already starts this program again with
// Argument, and with a Start as descriptor StartFD (Start.File). Main makes the mounts
// and executes the program in its own place.
package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"sirdbed/emu"
	"sirdbed/topo"
)

// Argument is the first argument with which this program is started in a node.
const Argument = "program-inside"

// StartFD is the descriptor of a Start in the process that Argument starts.
const StartFD = 3

// hostsPath is the file of names that a program sees as its own.
const hostsPath = "/etc/hosts"

// A Start is what to execute in a node.
type Start struct {
	Argv []string `json:"argv"`
	// Names is the content of the program's /etc/hosts: see Names. "": the machine's.
	Names string `json:"names"`
	// Dir is where the program starts, as far as it is there; "": where it is.
	Dir string `json:"dir,omitempty"`
}

// Names is an /etc/hosts with all nodes of a fabric: hosts by the addresses of their
// kernels, switches by their own.
func Names(f *topo.Fabric) string {
	var b strings.Builder
	b.WriteString("127.0.0.1\tlocalhost\n")
	for i := range f.Nodes {
		n := &f.Nodes[i]
		address := n.Addr
		if n.Kind == topo.Host {
			address = f.KernelAddr(topo.HostID(n.ID))
		}
		fmt.Fprintf(&b, "%v\t%s\n", address, n.Name)
	}
	return b.String()
}

// File returns the Start as a file without a name, to be StartFD of another process. It
// is closed when this process executes another program, unless the caller sees to it.
func (s *Start) File() (*os.File, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	file, err := nameless()
	if err != nil {
		return nil, fmt.Errorf("start of %s: %w", s.Argv[0], err)
	}
	if _, err := file.Write(text); err != nil {
		file.Close()
		return nil, fmt.Errorf("start of %s: %w", s.Argv[0], err)
	}
	return file, nil
}

// nameless returns a new file that has no name: in memory, or where the kernel has none
// of these in the directory of temporary files.
func nameless() (*os.File, error) {
	if fd, err := unix.MemfdCreate("start", unix.MFD_CLOEXEC); err == nil {
		return os.NewFile(uintptr(fd), "start"), nil
	}
	fd, err := unix.Open(os.TempDir(), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "start"), nil
}

// Codes with which a shell ends for a program that it cannot execute.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// Main is the process in a node. It returns only if the program cannot be executed, with
// the exit code that a shell has for that; a process that sirdbed did not start gets an
// error that matches emu.ErrInner.
func Main() (exitCode int, err error) {
	var stat unix.Stat_t
	if unix.Fstat(StartFD, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFREG || stat.Nlink != 0 {
		return 0, fmt.Errorf("%s: %w", Argument, emu.ErrInner)
	}
	file := os.NewFile(StartFD, "start")
	text, err := io.ReadAll(io.NewSectionReader(file, 0, stat.Size))
	file.Close()
	var s Start
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil || len(s.Argv) == 0 {
		return 0, fmt.Errorf("%s: %w", Argument, emu.ErrInner)
	}
	runtime.LockOSThread() // whose mount namespace, from now on, is its own
	if err := name(s.Names); err != nil {
		return exitNotExecutable, err
	}
	if s.Dir != "" {
		_ = os.Chdir(s.Dir) // the node may have other files
	}
	path, err := exec.LookPath(s.Argv[0])
	if err != nil {
		return exitNotFound, err
	}
	err = unix.Exec(path, s.Argv, os.Environ())
	code := exitNotExecutable
	if errors.Is(err, fs.ErrNotExist) {
		code = exitNotFound
	}
	return code, &fs.PathError{Op: "exec", Path: path, Err: err}
}

// name gives the calling thread a mount namespace in which /etc/hosts has a text of its
// own. A machine that has no such file gets none.
func name(text string) error {
	if text == "" {
		return nil
	}
	if _, err := os.Stat(hostsPath); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	failed := func(what string, err error) error {
		return fmt.Errorf("names in %s: %s: %w", hostsPath, what, err)
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return failed("make a mount namespace", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return failed("keep mounts inside", err)
	}
	// The file lies in a file system that has a place for a moment, over /proc, which is
	// everywhere. Then it has its own place alone.
	const place = "/proc"
	if err := unix.Mount("tmpfs", place, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return failed("mount a tmpfs", err)
	}
	err := os.WriteFile(place+"/hosts", []byte(text), 0o644)
	if err == nil {
		err = unix.Mount(place+"/hosts", hostsPath, "", unix.MS_BIND, "")
	}
	if e := unix.Unmount(place, unix.MNT_DETACH); err == nil {
		err = e
	}
	if err != nil {
		return failed("bind the file", err)
	}
	return nil
}
