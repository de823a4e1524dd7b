//go:build linux

package guest

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// A mapping is a file that this process has mapped as code.
type mapping struct {
	at   string // the range of addresses
	path string // of the file when it was mapped, with deleted after it if it is there no more
}

// deleted is what Linux puts behind the name of a file that is there no more.
const deleted = " (deleted)"

// mappedCode lists the files of a table of mappings that can be executed, each once.
func mappedCode(maps string) (list []mapping, err error) {
	f, err := os.Open(maps)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), " ", 6) // range, rights, offset, device, inode, path
		if len(fields) < 6 || !strings.Contains(fields[1], "x") {
			continue
		}
		// Of what a name may have, a line break alone is written otherwise.
		path := strings.ReplaceAll(strings.TrimLeft(fields[5], " "), `\012`, "\n")
		known := slices.ContainsFunc(list, func(m mapping) bool { return m.path == path })
		if strings.HasPrefix(path, "/") && !known {
			list = append(list, mapping{fields[0], path})
		}
	}
	return list, lines.Err()
}

// open opens the file. If it is there no more, that takes rights that root has.
func (m mapping) open() (*os.File, error) {
	if file, err := os.Open("/proc/self/map_files/" + m.at); err == nil {
		return file, nil
	}
	file, err := os.Open(m.path)
	if errors.Is(err, fs.ErrNotExist) && m.name() != m.path {
		err = fmt.Errorf("%s was replaced after this program began: start it again", m.name())
	}
	return file, err
}

// name is where the file was when it was mapped.
func (m mapping) name() string {
	if _, err := os.Lstat(m.path); err == nil {
		return m.path
	}
	return strings.TrimSuffix(m.path, deleted)
}
