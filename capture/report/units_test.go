package report

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Reports know the unit of every gauge that a protocol has, or that it has none.
// A gauge of a single peer ("bucket/h1-2") is in no table.
func TestGaugesHaveUnits(t *testing.T) {
	call := regexp.MustCompile(`\.Gauge\("([^"/]+)",`)
	found := 0
	for _, dir := range []string{"../../baselines", "../../sirdnode"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, match := range call.FindAllSubmatch(text, -1) {
				found++
				if _, ok := gaugeUnits[string(match[1])]; !ok {
					t.Errorf("%s: units.go has no unit of gauge %s", path, match[1])
				}
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if found < 20 {
		t.Errorf("got %d gauges, want 20 or more: are they registered otherwise?", found)
	}
}
