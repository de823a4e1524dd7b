package limit

import (
	"fmt"
	"io"
	"os"

	"sirdbed/topo/regular"
	"sirdbed/topo/units"
)

// A File is what may be in a file that a user names.
type File struct {
	Max units.Bytes
	Why string
}

// Files that users write. Errors in them are found in less than a second.
var (
	ScenarioFile = File{256 * units.Kilobyte, "a scenario of all streams, variants and bounds is smaller"}
	SetValue     = File{4 * units.Kilobyte, "a longer value is for the file"}
	ListFile     = File{16 * units.Megabyte, "some 400,000 messages; traffic of more is for a pattern"}
)

// Read returns what is in a file; see package regular.
func (f File) Read(path string) ([]byte, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, int64(f.Max)+1))
	if err != nil {
		return nil, err
	}
	if err := f.Check(len(text)); err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	return text, nil
}

// Check reports a file that is too large.
func (f File) Check(size int) error {
	if units.Bytes(size) > f.Max {
		return fmt.Errorf("more than %v: %s", f.Max, f.Why)
	}
	return nil
}
