package results

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sirdbed/capture/internal/fakerun"
)

// Every way in which a raw file can come to harm is named, and what is not raw is not
// looked at.
func TestAudit(t *testing.T) {
	const log = "variants/v/hosts/h1-1.rec"
	write := func(name, text string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666) }
	}
	change := func(name string, at int64, b byte) func(string) error {
		return func(dir string) error {
			file, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
			if err == nil {
				_, err = file.WriteAt([]byte{b}, at)
				file.Close()
			}
			return err
		}
	}
	remove := func(name string) func(string) error {
		return func(dir string) error { return os.RemoveAll(filepath.Join(dir, name)) }
	}
	link := func(dir string) error {
		return os.Rename(filepath.Join(dir, log), filepath.Join(dir, "elsewhere"))
	}
	for _, c := range []struct {
		name     string
		harm     func(dir string) error
		promised bool
		v, w     []string // what is wrong with two variants
		sizes    bool     // whether sizes alone show it
	}{
		{"nothing", remove("none"), true, nil, nil, true},
		{"a byte", change(log, 40, 0xff), true, []string{log + " is damaged: it is not what"}, nil, false},
		{"the last byte is gone", func(dir string) error { return os.Truncate(filepath.Join(dir, log), 1) }, true,
			[]string{log + " is damaged: it had "}, nil, true},
		{"a file", remove(log), true, []string{log + " is missing"}, nil, true},
		{"a link to what it was", func(dir string) error {
			if err := link(dir); err != nil {
				return err
			}
			return os.Symlink("../../../elsewhere", filepath.Join(dir, log))
		}, true, []string{log + " is not a file"}, nil, true},
		{"a variant", remove("variants/w"), true, nil, []string{"variants/w/experiment.json is missing",
			"variants/w/facts.json is missing"}, true},
		{"what belongs to all", write("scenario.json", "{}"), true, []string{"scenario.json is damaged"},
			[]string{"scenario.json is damaged"}, true},
		{"the checksums", remove(ChecksumsFile), true, []string{"checksums.json is missing"},
			[]string{"checksums.json is missing"}, true},
		{"damaged checksums", write(ChecksumsFile, "{"), true, []string{"checksums.json is damaged: "},
			[]string{"checksums.json is damaged: "}, true},
		{"checksums of others' files", write(ChecksumsFile, `{"files": {"../x": {}}}`), false,
			[]string{"checksums.json is damaged: "}, []string{"checksums.json is damaged: "}, true},
		{"none were kept", remove(ChecksumsFile), false, nil, nil, true},
		{"what is computed again", write("summary.json", "{}"), true, nil, nil, true},
		{"what a user adds", write("variants/v/notes", ""), true, nil, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := fakerun.Open(t, t.TempDir()).Dir
			for _, variant := range []string{"v", "w"} {
				run := fakerun.New(t, fakerun.OneWay).Write(t)
				must(t, os.MkdirAll(dir.At(VariantsDir), 0o777))
				must(t, os.Rename(run, dir.At(VariantsDir+"/"+variant)))
			}
			must(t, dir.WriteText("scenario.json", []byte("the scenario")))
			sums := NewChecksums()
			for _, name := range []string{"scenario.json", "variants/v", "variants/w"} {
				must(t, sums.Add(dir, name))
			}
			must(t, dir.WriteJSON(ChecksumsFile, sums))
			must(t, c.harm(dir.Path()))
			for _, sizesAlone := range []bool{false, true} {
				audit := NewAudit(dir, c.promised, sizesAlone)
				for variant, want := range map[string][]string{"v": c.v, "w": c.w} {
					var got []string
					if files := audit.Of(variant); files != nil {
						got = files.Damaged
					}
					if sizesAlone && !c.sizes {
						want = nil
					}
					if !begin(got, want) {
						t.Errorf("of %s, by sizes alone %v: got %q, want %q", variant, sizesAlone, got, want)
					}
				}
			}
		})
	}
}

// begin reports whether texts begin with those that are wanted, one by one; more of a
// variant that is missing as a whole may follow.
func begin(got, want []string) bool {
	return len(got) >= len(want) && (len(want) > 0 || len(got) == 0) &&
		!slices.ContainsFunc(want, func(w string) bool {
			return !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, w) })
		})
}

// A variant that has not ended has no checksums, and a result of versions that kept
// none has nothing to compare.
func TestAuditOfWhatHasNoChecksums(t *testing.T) {
	dir := fakerun.Open(t, t.TempDir()).Dir
	if f := NewAudit(dir, false, false).Of("v"); f != nil {
		t.Errorf("without checksums: got %+v, want nil", f)
	}
	must(t, dir.WriteText("scenario.json", nil))
	sums := NewChecksums()
	must(t, sums.Add(dir, "scenario.json"))
	must(t, dir.WriteJSON(ChecksumsFile, sums))
	a := NewAudit(dir, true, false)
	if f := a.Of("v"); f == nil || f.Checked != 0 || len(f.Damaged) > 0 || a.Has("v") {
		t.Errorf("of a variant that has not ended: got %+v, want none checked", f)
	}
}

// A summary whose raw files are damaged is INVALID where they were used.
func TestDamageMakesASummaryInvalid(t *testing.T) {
	s := &Summary{Verdict: Pass, Variants: []VariantSummary{
		{Variant: "v", Verdict: Pass, Checks: []Check{{Name: FilesCheck, Level: Pass}}}, {Variant: "w", Verdict: Pass},
	}}
	damaged := &Files{Checked: 2, Damaged: []string{"a is missing", "b is missing"}}
	a := &Audit{variant: map[string]*Files{"v": damaged, "w": {}}}
	if damage := a.Apply(s); damage != "a is missing; and 1 more" {
		t.Errorf("got %q", damage)
	}
	v, w := s.Variants[0], s.Variants[1]
	if s.Verdict != Invalid || len(s.Reasons) != 1 || v.Verdict != Invalid || len(v.Checks) != 1 ||
		v.Checks[0].Level != Invalid || w.Verdict != Pass {
		t.Errorf("got %+v", s)
	}
}
