//go:build linux

package virtual

import (
	"os"

	"golang.org/x/sys/unix"
)

// The guest's kernel keeps what has been written, 200 to 300 bytes a message for the logs
// at both ends, until it has no memory left; what it once had the machine does not get
// back. So the controller has it forget now and then what is on the machine's disk. Time
// stands still meanwhile, and results do not know of it.

// cacheStep is by how much memory becomes less until files are forgotten. A part of it is
// written just before, and stays until the next time.
const cacheStep = 16 << 20

// A fileCache is what the guest's kernel keeps of files.
type fileCache struct {
	free   func() (int64, error) // memory that nothing is in, in bytes
	forget func() error          // what has been written

	most int64 // that was free since files were forgotten
}

// newFileCache is that of the guest in which this process is.
func newFileCache() *fileCache { return &fileCache{free: freeMemory, forget: forgetFiles} }

// trim forgets files if memory has become less by cacheStep since the last time. It is for
// one goroutine. What fails is left as it is: there is memory for it.
func (c *fileCache) trim() {
	free, err := c.free()
	if err != nil {
		return
	}
	if c.most = max(c.most, free); c.most-free < cacheStep || c.forget() != nil {
		return
	}
	if c.most, err = c.free(); err != nil {
		c.most = 0
	}
}

func freeMemory() (int64, error) {
	var info unix.Sysinfo_t
	err := unix.Sysinfo(&info)
	return int64(info.Freeram) * int64(info.Unit), err
}

// forgetFiles drops clean pages of files that no program has mapped (drop_caches of
// Documentation/admin-guide/sysctl/vm.rst), without a line on the console.
func forgetFiles() error {
	const pages, silently = "1", "4"
	for _, what := range []string{silently, pages} {
		if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte(what), 0); err != nil {
			return err
		}
	}
	return nil
}
