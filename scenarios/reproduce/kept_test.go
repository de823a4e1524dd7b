package reproduce

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sirdbed/capture/points"
)

// Each point that the repository keeps is one of the paper's plan and undamaged: what a change
// of a scenario, a scale or a warm-up has left behind is to be removed.
func TestKeptPointsAreOfThePlan(t *testing.T) {
	if testing.Short() {
		t.Skip("all points of the paper, at 144 hosts")
	}
	scale, err := FindScale("paper")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Scale: scale}
	ofPlan := map[string]*Job{} // by key
	for _, j := range plan(t, o) {
		ofPlan[j.Address.Key] = &j
		if j.Round != roundOthers || !hasCells(j.Study) {
			continue
		}
		full := j // as Maxima may have it
		full.Full = true
		if err := full.fill(&o); err != nil {
			t.Fatal(err)
		}
		ofPlan[full.Address.Key] = &full
	}
	const dir = "../paper/points"
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := points.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		j := ofPlan[strings.TrimSuffix(file.Name(), ".json")]
		if j == nil {
			t.Errorf("%s is of no experiment of the plan: remove it", path)
			continue
		}
		p, _ := store.Get(j.Address)
		if p == nil {
			t.Errorf("%s cannot be read", path)
			continue
		}
		if got := p.Result.WindowTo - p.Result.WindowFrom; got != int64(j.Experiment.Duration) && p.Unbounded == "" {
			t.Errorf("%s has a window of %d ns, its experiment one of %v", path, got, j.Experiment.Duration)
		}
	}
	if len(store.Damaged()) > 0 {
		t.Errorf("damaged: %v", store.Damaged())
	}
}
