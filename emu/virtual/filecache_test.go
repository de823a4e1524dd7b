//go:build linux

package virtual

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"sirdbed/emu/virtual/guest"
)

// writeAndForget writes a file of some steps and prints how much memory, in MB, that takes and
// how much is back once the controller has looked.
func writeAndForget(path string) error {
	c := newFileCache()
	c.trim()
	before := c.most
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	batch := make([]byte, 64<<10)
	for range 4 * cacheStep / len(batch) {
		if _, err := file.Write(batch); err != nil {
			return err
		}
	}
	unix.Sync()
	written, err := freeMemory()
	if err != nil {
		return err
	}
	c.trim()
	after, err := freeMemory()
	fmt.Printf("%d taken, %d back\n", (before-written)>>20, (after-written)>>20)
	return err
}

// What a guest has written to the machine's disk takes none of its memory for long.
func TestWrittenFilesAreForgotten(t *testing.T) {
	dir := t.TempDir()
	exit, said, err := inGuest(t, guest.Config{
		Argv: []string{"/proc/self/exe", writeArgument, filepath.Join(dir, "log")},
		Show: []string{dir}, Memory: 256 << 20})
	if err != nil || exit != 0 {
		t.Fatalf("exit code %d, %v: %s", exit, err, said)
	}
	var taken, back int
	if _, err := fmt.Sscanf(said, "%d taken, %d back", &taken, &back); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	// The kernel may have taken some back itself by then.
	if half, step := 2*cacheStep>>20, cacheStep>>20; taken < half || back < step {
		t.Errorf("%d MB taken and %d back, want that a file of %d MB takes half of that, and %d are given back", taken,
			back, 2*half, step)
	}
}

// Files are forgotten each time that memory has become less by a step, not sooner, and
// what is then free counts.
func TestFileCacheIsTrimmed(t *testing.T) {
	free, forgotten := int64(100<<20), 0
	failure := error(nil)
	c := &fileCache{free: func() (int64, error) { return free, failure }, forget: func() error {
		forgotten++
		free += 10 << 20 // the rest is used otherwise
		return nil
	}}
	for _, step := range []struct {
		name string
		less int64
		err  error
		want int // times, so far
	}{
		{"at first", 0, nil, 0},
		{"a little less", cacheStep - 1, nil, 0},
		{"a step less", 1, nil, 1},
		{"a little less again", cacheStep - 1, nil, 1},
		{"more", -cacheStep, nil, 1},
		{"a step less than that", cacheStep, nil, 2},
		{"nobody knows", cacheStep, errors.New("no /proc"), 2},
		{"then it is known", 0, nil, 3},
	} {
		free, failure = free-step.less, step.err
		if c.trim(); forgotten != step.want {
			t.Fatalf("%s: files were forgotten %d times, want %d", step.name, forgotten, step.want)
		}
	}
}
