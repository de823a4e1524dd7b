//go:build linux

package device

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sirdbed/topo/regular"
)

// A Journal is where it stands what devices were like before they were changed: a
// directory that root alone can use, with a record for each device that is taken. Who
// has taken it keeps the record locked; one that nobody has locked belongs to a process
// that was killed, and its device is to be restored.
//
// Its methods are safe for concurrent use, also by several processes.
type Journal struct {
	Dir *os.Root
}

// A Record says what a device was like, and what stands beside it now.
type Record struct {
	Boot      string    `json:"boot"`      // of the machine
	Namespace string    `json:"namespace"` // that the device is in
	Cookie    uint64    `json:"cookie"`    // of that, 0 where the kernel has none
	PID       int       `json:"pid"`       // of who took it
	Taken     time.Time `json:"taken"`
	Beside    string    `json:"beside"` // the end of the veth pair
	Before    Snapshot  `json:"before"`
}

// recordSuffix ends the names of records, which begin with namespace and index of the
// device.
const recordSuffix = ".device"

// maxRecord is the size of the largest record that is read, in bytes.
const maxRecord = 16 << 20

// An entry is an open record, locked.
type entry struct {
	journal Journal
	name    string
	file    *os.File
}

func recordName(namespace string, index int) string {
	number := strings.Trim(strings.TrimPrefix(namespace, "net:"), "[]")
	return fmt.Sprintf("%s-%d%s", number, index, recordSuffix)
}

// ErrTaken matches the error of a device that a run has.
var ErrTaken = errors.New("taken by a run")

// begin locks the record of a device, and makes it where there is none.
func (j Journal) begin(name string) (*entry, error) {
	for range 100 { // others may remove it in between
		file, err := j.Dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			file.Close()
		} else if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		e, err := j.lock(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return e, err
		}
	}
	return nil, ErrTaken
}

// lock opens and locks a record that is there.
func (j Journal) lock(name string) (*entry, error) {
	for range 100 {
		file, err := regular.OpenIn(j.Dir, name, os.O_RDWR)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			file.Close()
			if err == unix.EWOULDBLOCK {
				err = ErrTaken
			}
			return nil, err
		}
		opened, err := file.Stat()
		if err == nil {
			var named fs.FileInfo
			if named, err = j.Dir.Lstat(name); err == nil && os.SameFile(opened, named) {
				return &entry{j, name, file}, nil
			}
		}
		file.Close() // somebody has removed it in between
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, ErrTaken
}

// read returns the record, nil if there was no time to write all of it: then nothing was
// changed yet.
func (e *entry) read() (*Record, error) {
	data, err := io.ReadAll(io.LimitReader(e.file, maxRecord))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.name, err)
	}
	if !bytes.HasSuffix(data, recordEnd) {
		return nil, nil
	}
	r := &Record{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", e.name, err)
	}
	return r, nil
}

// recordEnd is at the end of a record that is complete.
var recordEnd = []byte("\n")

// write writes the record of an entry, in place of what it had.
func (e *entry) write(r *Record) error {
	text, err := json.Marshal(r)
	if err == nil {
		err = e.file.Truncate(0)
	}
	if err == nil {
		_, err = e.file.WriteAt(append(text, recordEnd...), 0)
	}
	if err != nil {
		return fmt.Errorf("record of %s: %w", r.Before.Name, err)
	}
	return nil
}

// remove removes the record and unlocks it.
func (e *entry) remove() error {
	err := e.journal.Dir.Remove(e.name)
	e.close()
	return err
}

func (e *entry) close() { e.file.Close() }

// names lists the records.
func (j Journal) names() (list []string, err error) {
	top, err := j.Dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer top.Close()
	all, err := top.Readdirnames(-1)
	for _, name := range all {
		if strings.HasSuffix(name, recordSuffix) {
			list = append(list, name)
		}
	}
	return list, err
}

// Taken reports whether a run has an interface of the calling thread's namespace, or a
// run that was killed has not given it back.
func (j Journal) Taken(index int) (bool, error) {
	namespace, err := Namespace()
	if err != nil {
		return false, err
	}
	_, err = j.Dir.Lstat(recordName(namespace, index))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
