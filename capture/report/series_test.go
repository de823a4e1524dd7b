package report

import (
	"testing"
	"time"

	"sirdbed/capture"
	"sirdbed/capture/results"
	"sirdbed/topo/units"
)

// Points of a damaged log, far away or in any order, are put into as many spans as
// others, at once.
func TestBinsOfPointsInAnyOrder(t *testing.T) {
	const n = 500
	for name, change := range map[string]func([]results.GaugePoint){
		"in order":     func([]results.GaugePoint) {},
		"an outlier":   func(p []results.GaugePoint) { p[700].At = capture.MaxTime },
		"an early one": func(p []results.GaugePoint) { p[700].At = -capture.MaxTime },
		"backwards": func(p []results.GaugePoint) {
			for i := range p {
				p[i].At = -p[i].At
			}
		},
		"all at once": func(p []results.GaugePoint) {
			for i := range p {
				p[i].At = 7
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			points := make([]results.GaugePoint, 2*n)
			for i := range points {
				points[i] = results.GaugePoint{At: units.Time(10 * i), Value: float64(i)}
			}
			change(points)
			done := make(chan int, 1)
			go func() { done <- len(peaks(points, n)) }()
			select {
			case got := <-done:
				if got < 1 || got > len(points) {
					t.Errorf("got %d points", got)
				}
				if name == "in order" && got != n {
					t.Errorf("got %d points, want %d", got, n)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it takes for ever")
			}
		})
	}
}
