package points

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sirdbed/emu/tree"
	"sirdbed/topo/regular"
)

// A Store is a directory of points, a file each, which is there as a whole or not at all.
// It may be used from any goroutine, and by several processes at once.
type Store struct {
	path    string
	dir     *tree.Dir // nil: there is none, and the store is only looked at
	mu      sync.Mutex
	damaged map[string]error // by name of file, as found
}

const suffix = ".json"

// OpenStore opens a directory, and makes it where there is none.
func OpenStore(path string) (*Store, error) {
	dir, err := tree.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		dir, err = tree.Make(path)
	}
	return storeIn(path, dir, err)
}

// ViewStore opens a directory to Get what is there, and makes nothing: where there is no
// directory, it has no points.
func ViewStore(path string) (*Store, error) {
	dir, err := tree.Open(path)
	if errors.Is(err, fs.ErrNotExist) && path != "" {
		err = nil
	}
	return storeIn(path, dir, err)
}

func storeIn(path string, dir *tree.Dir, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	return &Store{path: path, dir: dir, damaged: map[string]error{}}, nil
}

// Close ends the use of the store.
func (s *Store) Close() error {
	if s.dir == nil {
		return nil
	}
	return s.dir.Close()
}

// Path is the directory's.
func (s *Store) Path() string { return s.path }

// Get returns the point at an address. stale says that there is one of the experiment by
// other code; point is that one then. nil: there is none, or its file is damaged, which
// Damaged has.
func (s *Store) Get(a Address) (point *Point, stale bool) {
	if s.dir == nil {
		return nil, false
	}
	name := a.Key + suffix
	text, err := s.dir.Read(name)
	for range 10 { // another process keeps the same point
		if !errors.Is(err, regular.ErrReplaced) {
			break
		}
		text, err = s.dir.Read(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	if err == nil {
		point, err = decode(text)
	}
	if err == nil && point.Key != a.Key {
		err = fmt.Errorf("damaged: it is the file of point %s", point.Key)
	}
	if err != nil {
		s.mu.Lock()
		s.damaged[name] = err
		s.mu.Unlock()
		return nil, false
	}
	return point, point.Code != a.Code
}

// Fit returns the point at an address unless it has to be run again: it is there, by the same
// code, and its figures are not wrong. nil: it has to.
func (s *Store) Fit(a Address) *Point {
	if p, stale := s.Get(a); p != nil && !stale && !p.IsInvalid() {
		return p
	}
	return nil
}

// Put keeps a point, in place of the one of the same experiment, and returns it as it is
// kept: to as many digits. With ErrThisPoint other points can be kept.
func (s *Store) Put(p *Point) (*Point, error) {
	text, err := p.encode()
	if err != nil {
		return nil, errors.Join(ErrThisPoint, err)
	}
	kept, err := parse(text)
	if err != nil {
		return nil, errors.Join(ErrThisPoint, err)
	}
	if err := kept.sound(); err != nil {
		return nil, errors.Join(ErrThisPoint, fmt.Errorf("no run makes this: %w", err))
	}
	// Under a name of its own first: two machines may have run the same point.
	own := p.Key + "-" + rand.Text() + suffix // as leftover has it
	err = s.dir.Write(own, func(file *os.File) error {
		if _, err := file.Write(append(text, '\n')); err != nil {
			return err
		}
		return file.Sync() // the machine may be switched off
	})
	if err != nil {
		return nil, err
	}
	if err := s.dir.Rename(own, p.Key+suffix); err != nil {
		if s.inTheWay(p.Key+suffix, err) {
			err = fmt.Errorf("%s is in its place and cannot be replaced: remove it: %w", s.dir.At(p.Key+suffix), err)
			err = errors.Join(ErrThisPoint, err)
		}
		return nil, errors.Join(err, s.dir.Remove(own))
	}
	return kept, nil
}

// inTheWay reports whether a file cannot get its name for what has it: no file, or another user's.
func (s *Store) inTheWay(name string, err error) bool {
	if _, e := s.dir.Lstat(name); e != nil {
		return false
	}
	return slices.ContainsFunc([]error{syscall.EISDIR, fs.ErrExist, fs.ErrPermission, syscall.ENOTEMPTY},
		func(reason error) bool { return errors.Is(err, reason) })
}

// ErrThisPoint is in the error of Put where the point is the reason, or what has its name: others
// can be kept.
var ErrThisPoint = errors.New("a point cannot be kept")

// keyForm is what keys look like: as Key makes them.
const keyForm = `[0-9a-f]{16}`

// leftover is the name of a file that a process has left that was killed as it kept a point,
// or tried whether it can.
var leftover = regexp.MustCompile(`^(` + keyForm + `-[A-Z2-7]{26}\.json|` + trial + `[A-Z2-7]{26})(\.part)?$`)

// pointName is the name of a point's file: its key, and what all end in.
var pointName = regexp.MustCompile(`^` + keyForm + `\` + suffix + `$`)

// trial begins the names of files by which it is found out whether points can be kept.
const trial = "try-"

// leftoverAge is how old such a file is at least: another machine may be about to rename it.
const leftoverAge = 24 * time.Hour

// Keys lists the keys of the points that are there, damaged ones too, in order.
func (s *Store) Keys() (keys []string, err error) {
	if s.dir == nil {
		return nil, nil
	}
	entries, err := s.dir.List(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeType == 0 && pointName.MatchString(e.Name()) {
			keys = append(keys, strings.TrimSuffix(e.Name(), suffix))
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// Prepare finds out whether points can be kept, by a file of a point's size, before hours are
// spent on them. It removes what processes that were killed have left.
func (s *Store) Prepare() error {
	entries, err := s.dir.List(".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && pointName.MatchString(e.Name()) {
			return fmt.Errorf("%s is a directory where a point belongs: remove it", s.dir.At(e.Name()))
		}
		if !leftover.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftoverAge {
			_ = s.dir.Remove(e.Name()) // of another user, maybe
		}
	}
	name := trial + rand.Text()
	if err := s.dir.WriteText(name, make([]byte, Size)); err != nil {
		return err
	}
	return s.dir.Remove(name)
}

// Damaged lists the files that could not be read, and why.
func (s *Store) Damaged() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, err := range s.damaged {
		list = append(list, fmt.Sprintf("%s: %v", s.dir.At(name), err))
	}
	slices.Sort(list)
	return list
}
