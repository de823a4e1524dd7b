package results

import (
	"encoding/json"
	"fmt"

	"sirdbed/emu/tree"
)

// Format is the number of the format in which results are written: their files,
// and what is in them. It grows when a reader of the format before would fail
// or be misled; columns and fields that are only added leave it as it is. Each
// file that is read by itself carries it: scenario.json for the raw logs,
// manifest.json and summary.json for the figures.
//
//   - 1: results of versions that did not number the format.
//   - 2: the same, numbered.
const Format = 2

// oldestFormat is the oldest format that this version reads.
const oldestFormat = 1

// A FormatError says that a result was made by a version too far from this one.
type FormatError struct {
	Format         int // of the result
	Oldest, Newest int // that can be read
}

func (e *FormatError) Error() string {
	if e.Format > e.Newest {
		return fmt.Sprintf(
			"made by a newer sirdbed: format %d, this one reads up to %d: use that version, or a later one",
			e.Format, e.Newest)
	}
	return fmt.Sprintf("made by an older sirdbed: format %d, this one reads %d and later: "+
		"use the version that manifest.json names, or run the scenario again", e.Format, e.Oldest)
}

// checkFormat returns a FormatError unless a result's format lies between two.
func checkFormat(format, oldest, newest int) error {
	if format < oldest || format > newest {
		return &FormatError{format, oldest, newest}
	}
	return nil
}

// ReadJSON reads one of a result's JSON files that carry a format. One without
// a number is of format 1. The format is checked before anything else is read.
func ReadJSON(dir *tree.Dir, name string, value any) error {
	text, err := dir.Read(name)
	if err != nil {
		return err
	}
	return decode(dir.At(name), text, value)
}

// decode is ReadJSON of the text at a path.
func decode(path string, text []byte, value any) error {
	var err error
	head := struct {
		Format int `json:"format"`
	}{1}
	// What is wrong with the text otherwise is reported when all of it is read.
	if json.Unmarshal(text, &head) == nil {
		err = checkFormat(head.Format, oldestFormat, Format)
	}
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
