package traffic

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"

	"sirdbed/topo/units"
)

// Sampling is the rule that turns the rows of a size distribution into sizes.
type Sampling string

const (
	// SamplingLog interpolates the logarithm of the size linearly in
	// probability, as the released simulator does; the first row is a point
	// mass. It is the default.
	SamplingLog Sampling = "log"
	// SamplingStep takes the first row whose cumulative probability reaches
	// the draw, as Homa's simulator does.
	SamplingStep Sampling = "step"
)

// A Point is a row of a Distribution: the probability of a size of at most
// Size.
type Point struct {
	Size       units.Bytes
	Cumulative float64
}

// A Distribution has the cumulative probabilities of message sizes. It does
// not change once made and may be shared freely.
type Distribution struct {
	name   string
	points []Point   // both fields strictly increasing, the last Cumulative 1
	logs   []float64 // natural logarithms of the points' sizes
}

// ParseDistribution reads a CSV file with the header size_bytes,cum_prob and
// lines of comment that begin with #. Both columns must increase from row to
// row and the last probability must be 1. name is what errors call the file.
func ParseDistribution(name string, r io.Reader) (*Distribution, error) {
	in := csv.NewReader(r)
	in.Comment = '#'
	in.TrimLeadingSpace = true
	in.FieldsPerRecord = 2
	var points []Point
	for header := true; ; header = false {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, csvError(name, err)
		}
		line, _ := in.FieldPos(0)
		if header {
			if row[0] != "size_bytes" || row[1] != "cum_prob" {
				return nil, fmt.Errorf("%s:%d: header %q: want size_bytes,cum_prob", name, line, row)
			}
			continue
		}
		size, err := strconv.ParseInt(row[0], 10, 64)
		if err != nil || size < 1 || units.Bytes(size) > MaxSize {
			return nil, fmt.Errorf("%s:%d: size_bytes %q: want a whole number from 1 to %d", name, line, row[0],
				int64(MaxSize))
		}
		prob, err := strconv.ParseFloat(row[1], 64)
		if err != nil || !(prob > 0 && prob <= 1) {
			return nil, fmt.Errorf("%s:%d: cum_prob %q: want a number above 0, up to 1", name, line, row[1])
		}
		p := Point{units.Bytes(size), prob}
		if n := len(points); n > 0 && (p.Size <= points[n-1].Size || p.Cumulative <= points[n-1].Cumulative) {
			return nil, fmt.Errorf("%s:%d: %d,%v does not increase on the row before, %d,%v", name, line,
				int64(p.Size), p.Cumulative, int64(points[n-1].Size), points[n-1].Cumulative)
		}
		points = append(points, p)
	}
	if len(points) == 0 {
		return nil, fmt.Errorf("%s: no rows", name)
	}
	if last := points[len(points)-1].Cumulative; last != 1 {
		return nil, fmt.Errorf("%s: cum_prob ends at %v: the last row must have 1", name, last)
	}
	return newDistribution(name, points), nil
}

// csvError puts a csv.ParseError's line in front, as all errors here have it.
func csvError(name string, err error) error {
	if e, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("%s:%d: %w", name, e.Line, e.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func newDistribution(name string, points []Point) *Distribution {
	d := &Distribution{name: name, points: points, logs: make([]float64, len(points))}
	for i, p := range points {
		d.logs[i] = math.Log(float64(p.Size))
	}
	return d
}

// fixedSize returns the distribution of messages of one size.
func fixedSize(size units.Bytes) *Distribution {
	return newDistribution(size.String(), []Point{{size, 1}})
}

// distributionOf returns the distribution of the sizes in a list.
func distributionOf(name string, list []ListEntry) *Distribution {
	sizes := make([]units.Bytes, len(list))
	for i := range list {
		sizes[i] = list[i].Size
	}
	slices.Sort(sizes)
	var points []Point
	for i, size := range sizes {
		if i+1 == len(sizes) || sizes[i+1] != size {
			points = append(points, Point{size, float64(i+1) / float64(len(sizes))})
		}
	}
	return newDistribution(name, points)
}

// Name returns the name the distribution goes by, such as "wka".
func (d *Distribution) Name() string { return d.name }

// Points returns the rows: by the step rule, row i is a message of its size
// with the probability by which its Cumulative exceeds that of row i-1. The
// caller owns the slice.
func (d *Distribution) Points() []Point { return slices.Clone(d.points) }

// at returns the first row whose Cumulative reaches u, and, from 0 to 1, how
// far u is on the way to it from the row before. The first row is all reached.
func (d *Distribution) at(u float64) (row int, way float64) {
	row = sort.Search(len(d.points)-1, func(i int) bool { return d.points[i].Cumulative >= u })
	if row == 0 {
		return 0, 1
	}
	below := d.points[row-1].Cumulative
	return row, min(1, (u-below)/(d.points[row].Cumulative-below))
}

// Quantile returns the size, in bytes and not yet rounded to a whole number,
// that a share u of the messages does not exceed; u is from 0 to 1.
func (d *Distribution) Quantile(u float64, rule Sampling) float64 {
	row, way := d.at(u)
	if rule == SamplingStep || way == 1 {
		return float64(d.points[row].Size)
	}
	return math.Exp(d.logs[row-1] + float64(way*(d.logs[row]-d.logs[row-1])))
}

// Sample returns the message size that the uniform draw u, from [0, 1), stands
// for: its quantile, to the nearest byte. (The released simulator raises sizes
// below 4 to 4; the three workloads have none.)
func (d *Distribution) Sample(u float64, rule Sampling) units.Bytes {
	return units.Bytes(math.Round(d.Quantile(u, rule)))
}

// CDF returns the share of messages of at most the given size.
func (d *Distribution) CDF(size units.Bytes, rule Sampling) float64 {
	row := sort.Search(len(d.points), func(i int) bool { return d.points[i].Size > size })
	switch {
	case row == 0:
		return 0
	case row == len(d.points):
		return 1
	}
	p, next := d.points[row-1], d.points[row]
	if rule == SamplingStep || size == p.Size {
		return p.Cumulative
	}
	way := (math.Log(float64(size)) - d.logs[row-1]) / (d.logs[row] - d.logs[row-1])
	return p.Cumulative + way*(next.Cumulative-p.Cumulative)
}

// BytesCDF returns the share of all bytes that is in messages of at most the
// given size, by the step rule.
func (d *Distribution) BytesCDF(size units.Bytes) float64 {
	var within, below float64
	for _, p := range d.points {
		if p.Size > size {
			break
		}
		within += float64(p.Size) * (p.Cumulative - below)
		below = p.Cumulative
	}
	return within / d.Mean(SamplingStep)
}

// Mean returns the mean size in bytes of what the rule samples. Between two
// rows a and b the mean of the log-interpolated size is (b-a)/ln(b/a).
func (d *Distribution) Mean(rule Sampling) (mean float64) {
	var below float64
	for i, p := range d.points {
		size := float64(p.Size)
		if rule != SamplingStep && i > 0 {
			size = (size - float64(d.points[i-1].Size)) / (d.logs[i] - d.logs[i-1])
		}
		mean += size * (p.Cumulative - below)
		below = p.Cumulative
	}
	return mean
}
