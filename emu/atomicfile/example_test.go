package atomicfile_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"sirdbed/emu/atomicfile"
)

// A file that could not be written to its end is not there.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "results")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	path := filepath.Join(dir, "table.csv")
	err = atomicfile.Write(path, func(file *os.File) error {
		fmt.Fprintln(file, "host,goodput")
		return errors.New("no goodput")
	})
	fmt.Println(err)
	_, err = os.Stat(path)
	fmt.Println("left behind:", !errors.Is(err, os.ErrNotExist))
	// Output:
	// no goodput
	// left behind: false
}
