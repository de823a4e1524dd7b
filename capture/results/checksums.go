package results

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"

	"sirdbed/emu/tree"
)

// ChecksumsFile is the name of a result's checksums in its directory.
const ChecksumsFile = "checksums.json"

// Checksums is checksums.json: the raw files of a result as its run left them. A
// variant's are added when it has ended, so that what a killed run was writing is not
// among them. What report computes is not either.
type Checksums struct {
	Format int                 `json:"format"`
	Files  map[string]Checksum `json:"files"` // by name in the result's directory
}

// A Checksum is what tells a file from others.
type Checksum struct {
	Size   int64  `json:"size_bytes"`
	SHA256 string `json:"sha256"` // in hexadecimal digits
}

// NewChecksums returns those of no file.
func NewChecksums() *Checksums { return &Checksums{Format: Format, Files: map[string]Checksum{}} }

// ReadChecksums reads those of a result.
func ReadChecksums(dir *tree.Dir) (*Checksums, error) {
	c := &Checksums{}
	if err := ReadJSON(dir, ChecksumsFile, c); err != nil {
		return nil, err
	}
	for name := range c.Files {
		if !fs.ValidPath(name) || strconv.Quote(name) != `"`+name+`"` {
			return nil, fmt.Errorf("%s: %q is no file of a result", dir.At(ChecksumsFile), name)
		}
	}
	return c, nil
}

// Add adds a file, or all files in a directory.
func (c *Checksums) Add(dir *tree.Dir, name string) error {
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		c.Files[name], err = checksum(dir, name)
		return err
	}
	entries, err := dir.List(name)
	for _, e := range entries {
		if err == nil && (e.IsDir() || e.Type().IsRegular()) {
			err = c.Add(dir, path.Join(name, e.Name()))
		}
	}
	return err
}

func checksum(dir *tree.Dir, name string) (c Checksum, err error) {
	file, err := dir.Open(name)
	if err != nil {
		return c, err
	}
	defer file.Close()
	h := sha256.New()
	if c.Size, err = io.CopyBuffer(h, struct{ io.Reader }{file}, make([]byte, 256<<10)); err != nil {
		return c, err
	}
	c.SHA256 = hex.EncodeToString(h.Sum(nil))
	return c, nil
}

// check returns what is wrong with a file, "" for nothing.
func (c Checksum) check(dir *tree.Dir, name string, sizeAlone bool) string {
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "is missing"
	case err != nil:
		return fmt.Sprintf("cannot be read: %v", err)
	case !info.Mode().IsRegular():
		return "is not a file"
	case info.Size() != c.Size:
		return fmt.Sprintf("is damaged: it had %d bytes, and has %d", c.Size, info.Size())
	case sizeAlone:
		return ""
	}
	now, err := checksum(dir, name)
	switch {
	case err != nil:
		return fmt.Sprintf("cannot be read: %v", err)
	case now != c:
		return "is damaged: it is not what the run wrote"
	}
	return ""
}
