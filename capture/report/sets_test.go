package report

import (
	"strings"
	"testing"
)

// Figures of one set, one after another, share a heading, and what all their captions begin with.
func TestSetsOfFigures(t *testing.T) {
	figures := []Figure{
		{Name: "a", Title: "alone", Caption: "Of its own."},
		{Name: "b", Set: "S", Panel: "left", Across: 3, Caption: "What all say. And more. Left alone."},
		{Name: "c", Set: "S", Panel: "right", Caption: "What all say. And more."},
		{Name: "d", Set: "S", Panel: "last", Caption: "What all say. And less."},
		{Name: "e", Set: "T", Caption: "One alone."},
	}
	sets := Sets(figures)
	if len(sets) != 3 {
		t.Fatalf("%d sets, want 3", len(sets))
	}
	for i, want := range []struct {
		heading, caption, captions string
		across                     int
	}{
		{"", "", "Of its own.", 2},
		{"S", "What all say.", "And more. Left alone.|And more.|And less.", 3},
		{"T", "One alone.", "", 2},
	} {
		s, captions := sets[i], []string{}
		for _, f := range s.Figures {
			captions = append(captions, f.Caption)
		}
		if got := strings.Join(captions, "|"); s.Heading != want.heading || s.Caption != want.caption ||
			got != want.captions || s.Across != want.across {
			t.Errorf("set %d: %q, %d across, %q, captions %q", i, s.Heading, s.Across, s.Caption, got)
		}
	}
	if figures[1].Caption != "What all say. And more. Left alone." {
		t.Error("the caption of a figure that was given has changed")
	}
}
