//go:build linux

package guest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/sirdnode/clock"
)

// The machine clears each page that the guest touches for the first time, and a
// virtual machine may fetch it from its host before that: 1 to 10 us a page, in
// which the guest stands still, and 144 hosts touch 200,000 pages before they
// begin. So a thread of this process, which is on another processor, touches
// pages ahead of the guest. The guest's kernel takes free memory in the order of
// addresses, mostly; where it does not, the thread looks again.

const (
	prefaultEvery  = 5 * time.Millisecond
	prefaultTicks  = 32        // of prefaultEvery: how far it is ahead, at the guest's pace
	prefaultWindow = 128 << 20 // and at most
	prefaultStep   = 2 << 20   // a huge page
	prefaultSign   = 256 << 10 // growth that shows where the guest is, in prefaultEvery
)

// prefault touches memory ahead of the kernel pid until quit ends. It is an
// optimization: whatever fails, it just ends, and it has only the processor time
// that nobody else wants, another guest above all.
func prefault(pid int, size int64, quit <-chan struct{}) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	_ = clock.SetPolicy(clock.Idle)
	tick := time.NewTicker(prefaultEvery)
	defer tick.Stop()
	p := &prefaulter{pid: pid, size: size, window: prefaultWindow}
	defer p.close()
	for p.step() == nil {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
	}
}

// A prefaulter follows how far the guest is, and has memory ready ahead of it.
type prefaulter struct {
	pid    int
	size   int64 // of the memory
	window int64 // how far ahead it may be ready
	file   *os.File

	resides int64 // what the guest has touched
	pace    int64 // bytes it touches in a tick, at its fastest of late

	extents []extent // what had been touched at the last look
	// next is where untouched memory begins that the guest is about to take; 0
	// while that is not known.
	next  int64
	ready int64 // bytes made ready since then
	begun int64 // what the guest had touched then
}

// An extent is a part of the file that has been touched: from, inclusive, to.
type extent struct{ from, to int64 }

func (p *prefaulter) close() {
	if p.file != nil {
		p.file.Close()
	}
}

// step makes ready what is due.
func (p *prefaulter) step() error {
	if p.file == nil {
		file, err := memoryFile(p.pid, p.size)
		if err != nil || file == nil {
			return err
		}
		p.file = file
	}
	resides, err := resident(p.pid)
	if err != nil {
		return err
	}
	p.pace = max(resides-p.resides, p.pace-p.pace/16)
	p.resides = resides
	took := resides - p.begun
	if p.next == 0 || took > p.ready+p.window {
		return p.look()
	}
	for took+min(p.pace*prefaultTicks, p.window) > p.ready {
		if err := p.touch(); err != nil || p.next == 0 {
			return err
		}
	}
	return nil
}

// look finds where the guest takes memory: where most has been touched since the
// last time.
func (p *prefaulter) look() error {
	now, err := extents(p.file)
	if err != nil {
		return err
	}
	p.next = frontier(p.extents, now)
	p.extents, p.ready, p.begun = now, 0, p.resides
	return nil
}

// frontier is the end of the extent that has grown most at its end, by at least
// prefaultSign; 0 if none has.
func frontier(before, now []extent) int64 {
	ends := map[int64]int64{}
	for _, e := range before {
		ends[e.from] = e.to
	}
	most, at := int64(prefaultSign-1), int64(0)
	for _, e := range now {
		if end, ok := ends[e.from]; ok && e.to-end > most {
			most, at = e.to-end, e.to
		}
	}
	return at
}

// touch makes the next step ready. Where it meets what has been touched, or the
// end, a look is due.
func (p *prefaulter) touch() error {
	to := (p.next/prefaultStep + 1) * prefaultStep
	data, err := unix.Seek(int(p.file.Fd()), p.next, unix.SEEK_DATA)
	if err == nil {
		to = min(to, data)
	} else if !errors.Is(err, unix.ENXIO) { // none to the end
		return err
	}
	to = min(to, p.size)
	if to <= p.next {
		p.next, p.extents = 0, nil
		return nil
	}
	page := int64(os.Getpagesize())
	from := p.next / page * page
	memory, err := unix.Mmap(int(p.file.Fd()), from, int(to-from), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	err = errors.Join(unix.Madvise(memory, unix.MADV_POPULATE_WRITE), unix.Munmap(memory))
	p.ready += to - p.next
	p.next = to
	return err
}

// extents lists what of a file has been touched.
func extents(file *os.File) (list []extent, err error) {
	for at := int64(0); ; {
		from, err := unix.Seek(int(file.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		if at, err = unix.Seek(int(file.Fd()), from, unix.SEEK_HOLE); err != nil {
			return nil, err
		}
		list = append(list, extent{from, at})
	}
}

// memoryFile opens the memory of a kernel: a file without a name. nil means that
// it has not made it yet.
func memoryFile(pid int, size int64) (*os.File, error) {
	list, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(list) == 0 {
		return nil, fmt.Errorf("no files of process %d: %v", pid, err)
	}
	for _, path := range list {
		var s unix.Stat_t
		if unix.Stat(path, &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFREG && s.Nlink == 0 && s.Size >= size {
			return os.OpenFile(path, os.O_RDWR, 0)
		}
	}
	return nil, nil
}

// resident is how many bytes of shared memory a process has touched.
func resident(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text)
	if len(fields) < 3 {
		return 0, fmt.Errorf("statm: %q", text)
	}
	pages, err := strconv.ParseInt(string(fields[2]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}
