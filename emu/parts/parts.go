// Package parts has the names of the files of a run that each of several guests writes, until
// they are merged into one.
package parts

import (
	"strconv"
	"strings"
)

// File is the name of the guest's file with a number, from 0: the first one has the name that
// the file has otherwise.
func File(number int, name string) string {
	if number == 0 {
		return name
	}
	stem, ending, _ := strings.Cut(name, ".")
	return stem + "." + strconv.Itoa(number) + "." + ending
}
