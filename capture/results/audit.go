package results

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"sirdbed/emu/tree"
)

// An Audit is what has become of the raw files of a result: each is compared with its
// checksum.
type Audit struct {
	none    bool              // there are no checksums
	own     Files             // of what belongs to all variants
	variant map[string]*Files // by name
}

// Files is what has become of some raw files.
type Files struct {
	Checked int      // how many have a checksum
	Damaged []string // which are damaged or missing, and how
}

// NewAudit compares the files of a result, or to be fast their sizes alone. promised
// reports whether its run kept checksums: versions before did not.
func NewAudit(dir *tree.Dir, promised, sizesAlone bool) *Audit {
	a := &Audit{variant: map[string]*Files{}}
	c, err := ReadChecksums(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !promised:
		a.none = true
		return a
	case errors.Is(err, fs.ErrNotExist):
		a.own.Damaged = []string{ChecksumsFile + " is missing"}
		return a
	case err != nil:
		a.own.Damaged = []string{fmt.Sprintf("%s is damaged: %v", ChecksumsFile, err)}
		return a
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		f := &a.own
		if inside, ok := strings.CutPrefix(name, VariantsDir+"/"); ok {
			variant, _, _ := strings.Cut(inside, "/")
			if a.variant[variant] == nil {
				a.variant[variant] = &Files{}
			}
			f = a.variant[variant]
		}
		f.Checked++
		if what := c.Files[name].check(dir, name, sizesAlone); what != "" {
			f.Damaged = append(f.Damaged, name+" "+what)
		}
	}
	return a
}

// Of is what has become of a variant's files and of those that belong to all. It is
// nil for a result without checksums.
func (a *Audit) Of(variant string) *Files {
	if a.none {
		return nil
	}
	f := a.own
	if own := a.variant[variant]; own != nil {
		f.Checked += own.Checked
		f.Damaged = append(slices.Clone(f.Damaged), own.Damaged...)
	} else {
		f.Checked = 0 // it has not ended
	}
	return &f
}

// All is what has become of all files of a result.
func (a *Audit) All() Files {
	f := Files{Checked: a.own.Checked, Damaged: slices.Clone(a.own.Damaged)}
	for _, name := range slices.Sorted(maps.Keys(a.variant)) {
		f.Checked += a.variant[name].Checked
		f.Damaged = append(f.Damaged, a.variant[name].Damaged...)
	}
	return f
}

// Has reports whether a variant left files: its run ended.
func (a *Audit) Has(variant string) bool { return a.variant[variant] != nil }

// Text names the first of what is damaged, and how many more there are; "" if nothing
// is.
func (f *Files) Text() string {
	switch len(f.Damaged) {
	case 0:
		return ""
	case 1:
		return f.Damaged[0]
	}
	return fmt.Sprintf("%s; and %d more", f.Damaged[0], len(f.Damaged)-1)
}

// FilesCheck is the check of the verdict that a variant's raw files are as they were,
// and FilesLimit is when it passes.
const (
	FilesCheck = "files"
	FilesLimit = "each is as the run left it"
)

// Apply makes the verdict of a summary INVALID, and of its variants, where raw files
// are damaged that they were computed from. It reports what is.
func (a *Audit) Apply(s *Summary) (damage string) {
	all := a.All()
	if damage = all.Text(); damage == "" {
		return ""
	}
	s.Verdict, s.Reasons = Invalid, append(s.Reasons, FilesCheck+": "+damage)
	for i := range s.Variants {
		v := &s.Variants[i]
		f := a.Of(v.Variant)
		if len(f.Damaged) == 0 {
			continue
		}
		v.Verdict, v.Reasons = Invalid, append(v.Reasons, FilesCheck+": "+f.Text())
		v.Checks = slices.DeleteFunc(v.Checks, func(c Check) bool { return c.Name == FilesCheck })
		v.Checks = append(v.Checks, Check{Name: FilesCheck, Level: Invalid, Found: f.Text(), Limit: FilesLimit})
	}
	return damage
}
