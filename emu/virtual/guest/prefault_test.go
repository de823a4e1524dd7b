//go:build linux

package guest

import (
	"os"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

const mb = 1 << 20

// A kernel takes memory where an extent grows at its end, most of all.
func TestFrontier(t *testing.T) {
	for _, c := range []struct {
		name        string
		before, now []extent
		want        int64
	}{
		{"nothing is known", nil, []extent{{0, mb}}, 0},
		{"nothing grows", []extent{{0, mb}, {8 * mb, 9 * mb}}, []extent{{0, mb}, {8 * mb, 9 * mb}}, 0},
		{"one grows", []extent{{0, mb}, {8 * mb, 9 * mb}}, []extent{{0, mb}, {8 * mb, 10 * mb}}, 10 * mb},
		{"two grow", []extent{{0, mb}, {8 * mb, 9 * mb}}, []extent{{0, 3 * mb}, {8 * mb, 10 * mb}}, 3 * mb},
		{"by too little", []extent{{0, mb}}, []extent{{0, mb + prefaultSign - 1}}, 0},
		{"downwards", []extent{{8 * mb, 9 * mb}}, []extent{{4 * mb, 9 * mb}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := frontier(c.before, c.now); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// toucher is this process as a guest's kernel: memory without a name, and a mapping
// of it.
type toucher struct {
	t      *testing.T
	file   *os.File
	memory []byte
}

func newToucher(t *testing.T, size int) *toucher {
	fd, err := unix.MemfdCreate("memory", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	k := &toucher{t: t, file: os.NewFile(uintptr(fd), "memory")}
	if err := k.file.Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	if k.memory, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Munmap(k.memory)
		k.file.Close()
	})
	return k
}

func (k *toucher) touch(from, to int) {
	for i := from; i < to; i += os.Getpagesize() {
		k.memory[i] = 1
	}
}

// has checks what of the memory has been touched by anybody.
func (k *toucher) has(want ...extent) {
	k.t.Helper()
	got, err := extents(k.file)
	if err != nil || !slices.Equal(got, want) {
		k.t.Errorf("touched: %v, not %v (%v)", got, want, err)
	}
}

// Memory is made ready from where the guest is, as far as the window, and on as the
// guest goes on; what has been touched is left as it is.
func TestStayAhead(t *testing.T) {
	const size = 64 * mb
	k := newToucher(t, size)
	p := &prefaulter{pid: os.Getpid(), size: size, window: 8 * mb}
	defer p.close()
	step := func() {
		t.Helper()
		if err := p.step(); err != nil {
			t.Fatal(err)
		}
	}
	k.touch(0, 2*mb)
	k.touch(32*mb, 34*mb)
	k.memory[32*mb] = 7
	step()
	step()
	k.has(extent{0, 2 * mb}, extent{32 * mb, 34 * mb}) // who knows where it goes on

	k.touch(2*mb, 4*mb)
	step() // it does, at the beginning
	step()
	k.has(extent{0, 12 * mb}, extent{32 * mb, 34 * mb})
	step()
	k.has(extent{0, 12 * mb}, extent{32 * mb, 34 * mb}) // it is far enough

	k.touch(4*mb, 10*mb)
	step()
	got, _ := extents(k.file)
	if len(got) != 2 || got[0].to < 16*mb || got[0].to > 20*mb {
		t.Errorf("it goes on, and what is ready is %v", got)
	}

	for range 200 {
		step()
	}
	k.touch(10*mb, 10*mb+64<<10)
	before, _ := extents(k.file)
	step()
	after, _ := extents(k.file)
	if grown := after[0].to - before[0].to; grown > 2*prefaultStep {
		t.Errorf("it goes on slowly, and %d bytes more are made ready", grown)
	}

	k.touch(10*mb, 30*mb)
	for range 4 {
		step() // as far as what has been touched
	}
	k.has(extent{0, 34 * mb})
	if k.memory[32*mb] != 7 {
		t.Error("memory has changed")
	}
}

// A kernel that is gone, or that has no memory yet, is no harm.
func TestStayAheadOfNobody(t *testing.T) {
	quit := make(chan struct{})
	close(quit)
	for _, nobody := range []func(){
		func() { prefault(1<<30, mb, quit) },
		func() { prefault(os.Getpid(), 1<<50, quit) },
	} {
		var ended sync.WaitGroup
		ended.Go(nobody) // on a thread of its own, which it keeps
		ended.Wait()
	}
	if file, err := memoryFile(os.Getpid(), 1<<50); file != nil || err != nil {
		t.Errorf("%v, %v", file, err)
	}
	if _, err := resident(1 << 30); err == nil {
		t.Error("a process that is not there is resident")
	}
}
