package traffic

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"sirdbed/topo/units"
)

func workload(t testing.TB, name string) *Distribution {
	t.Helper()
	d, err := Workload(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*math.Abs(want) }

// README, Workloads. The means are those of Homa's simulator; the tables here come
// from HomaModule, whose figures are rounded a little differently: the means differ
// by 2 in 10,000 (WKa).
func TestMeans(t *testing.T) {
	for _, c := range []struct {
		name      string
		step, log float64
	}{{"wka", 2927.35, 2889.7}, {"wkb", 127796.6, 121712.8}, {"wkc", 2515857.4, 2478878}} {
		t.Run(c.name, func(t *testing.T) {
			d := workload(t, c.name)
			if got := d.Mean(SamplingStep); !near(got, c.step, 2e-4) {
				t.Errorf("mean by the step rule %.2f, want %.2f", got, c.step)
			}
			if got := d.Mean(SamplingLog); !near(got, c.log, 2e-4) {
				t.Errorf("mean by the log rule %.2f, want %.2f", got, c.log)
			}
		})
	}
}

func TestSharesBySizeGroup(t *testing.T) {
	paper, released := []units.Bytes{1460, 100000, 800000}, []units.Bytes{1450, 95000, 8 * 95000}
	for _, c := range []struct {
		name     string
		rule     Sampling
		borders  []units.Bytes
		messages [4]float64
		bytes    [4]float64
	}{
		{"wka", SamplingStep, paper, [4]float64{.8886, .1074, .0038, .00032}, [4]float64{.083, .338, .299, .280}},
		{"wkb", SamplingStep, paper, [4]float64{.6416, .2452, .0827, .0305}, [4]float64{.003, .079, .153, .765}},
		{"wkc", SamplingStep, paper, [4]float64{.025, .519, .134, .322}, [4]float64{0, .007, .019, .975}},
		{"wka", SamplingLog, released, [4]float64{.890, .106, .0040, .0003}, [4]float64{}},
		{"wkb", SamplingLog, released, [4]float64{.642, .241, .086, .031}, [4]float64{}},
		{"wkc", SamplingLog, released, [4]float64{.025, .516, .1325, .326}, [4]float64{}},
	} {
		t.Run(fmt.Sprintf("%s by %s", c.name, c.rule), func(t *testing.T) {
			d := workload(t, c.name)
			var messages, bytes float64
			for g := range 4 {
				m, b := 1.0, 1.0
				if g < 3 {
					m, b = d.CDF(c.borders[g]-1, c.rule), d.BytesCDF(c.borders[g]-1)
				}
				if got := m - messages; math.Abs(got-c.messages[g]) > 0.0012 {
					t.Errorf("group %c has %.5f of the messages, want %.5f", 'A'+g, got, c.messages[g])
				}
				if got := b - bytes; c.rule == SamplingStep && math.Abs(got-c.bytes[g]) > 0.001 {
					t.Errorf("group %c has %.4f of the bytes, want %.4f", 'A'+g, got, c.bytes[g])
				}
				messages, bytes = m, b
			}
		})
	}
}

func TestQuantilesByStep(t *testing.T) {
	for name, want := range map[string][6]float64{ // at these shares of the messages
		"wka": {8, 268, 1755, 31013, 356516, 15158197},
		"wkb": {53, 662, 120373, 3430822, 1e7, 1e7},
		"wkc": {1442, 70658, 4806186, 26917814, 28840000, 28840000},
	} {
		t.Run(name, func(t *testing.T) {
			for i, u := range []float64{0, .5, .9, .99, .999, 1} {
				if got := workload(t, name).Quantile(u, SamplingStep); got != want[i] {
					t.Errorf("quantile %v is %v, want %v", u, got, want[i])
				}
			}
		})
	}
}

// Between two rows the log rule is the straight line in the logarithm, at a row
// both rules agree, and CDF undoes Quantile.
func TestLogInterpolation(t *testing.T) {
	d, err := ParseDistribution("two", strings.NewReader("size_bytes,cum_prob\n100,0.5\n10000,1\n"))
	if err != nil {
		t.Fatal(err)
	}
	for u, want := range map[float64]float64{0: 100, .25: 100, .5: 100, .75: 1000, 1: 10000} {
		if got := d.Quantile(u, SamplingLog); !near(got, want, 1e-12) {
			t.Errorf("quantile %v is %v, want %v", u, got, want)
		}
	}
	if got, want := d.Mean(SamplingLog), .5*100+.5*9900/math.Log(100); !near(got, want, 1e-12) {
		t.Errorf("mean %v, want %v", got, want)
	}
	for _, size := range []units.Bytes{99, 100, 400, 9999, 10000, 20000} {
		u := d.CDF(size, SamplingLog)
		if back := d.Quantile(u, SamplingLog); size >= 100 && size <= 10000 && !near(back, float64(size), 1e-9) {
			t.Errorf("CDF(%d) = %v, whose quantile is %v, want %d", size, u, back, size)
		}
	}
}

// Samples have the distribution's mean and range. WKa's mean is carried by
// three messages in ten thousand, so the draws are spread evenly.
func TestSamplesHaveTheMean(t *testing.T) {
	const n = 400_000
	for _, name := range Workloads() {
		for _, rule := range []Sampling{SamplingLog, SamplingStep} {
			d := workload(t, name)
			var sum float64
			for i := range n {
				sum += float64(d.Sample((float64(i)+.5)/n, rule))
			}
			if got, want := sum/n, d.Mean(rule); !near(got, want, 0.003) {
				t.Errorf("%s %s: mean of the samples %.1f, want %.1f", name, rule, got, want)
			}
		}
	}
}

func TestDistributionErrors(t *testing.T) {
	const header = "# source\nsize_bytes,cum_prob\n"
	for in, want := range map[string]string{
		"":                       "d.csv: no rows",
		"bytes,p\n1,1\n":         "d.csv:1: header",
		header:                   "d.csv: no rows",
		header + "0,1\n":         `d.csv:3: size_bytes "0"`,
		header + "1.5,1\n":       `d.csv:3: size_bytes "1.5"`,
		header + "1,x\n":         `d.csv:3: cum_prob "x"`,
		header + "1,NaN\n":       `d.csv:3: cum_prob "NaN"`,
		header + "1,1.1\n":       `d.csv:3: cum_prob "1.1"`,
		header + "2,.5\n1,1\n":   "d.csv:4: 1,1 does not increase",
		header + "1,.5\n2,.5\n":  "d.csv:4: 2,0.5 does not increase",
		header + "1,.5\n":        "d.csv: cum_prob ends at 0.5",
		header + "1,.5\n2,1,3\n": "d.csv:4: wrong number of fields",
	} {
		t.Run(in, func(t *testing.T) {
			_, err := ParseDistribution("d.csv", strings.NewReader(in))
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
	if _, err := Workload("wkd"); err == nil || !strings.Contains(err.Error(), "wka, wkb, wkc") {
		t.Errorf("Workload(wkd): got %v, want the names there are", err)
	}
}

func TestDistributionOfOtherStreams(t *testing.T) {
	list := Stream{Name: "l", Pattern: PatternList, Messages: []ListEntry{{Size: 30}, {Size: 10}, {Size: 10},
		{Size: 20}}}
	d := list.Distribution()
	if p := d.Points(); len(p) != 3 || p[0] != (Point{10, .5}) || p[2] != (Point{30, 1}) ||
		d.Mean(SamplingStep) != 17.5 {
		t.Errorf("points %v, mean %v; want 3 from 10 to 30, and 17.5", p, d.Mean(SamplingStep))
	}
	fixed := Stream{Pattern: PatternFixed, Size: 500}
	if d := fixed.Distribution(); d.Sample(.3, SamplingLog) != 500 || d.Mean(SamplingLog) != 500 {
		t.Errorf("fixed size: sample %v, mean %v; want 500", d.Sample(.3, SamplingLog), d.Mean(SamplingLog))
	}
}
