package stats

import "math"

// Trend is a straight line through a series of block means, and how sure its
// slope is.
type Trend struct {
	Slope  float64 `json:"slope"`  // per block
	T      float64 `json:"t"`      // the slope in its own standard errors
	Growth float64 `json:"growth"` // from the first block to the last, by the line
	Mean   float64 `json:"mean"`
	Blocks int     `json:"blocks"`
}

// FitTrend fits a line to block means by least squares. The blocks of a backlog are
// autocorrelated, not independent samples: the standard error is that of the
// effective number of samples n(1-r)/(1+r), where r is the lag-1 autocorrelation of
// the residuals. A series of fewer than 4 blocks has no trend.
func FitTrend(means []float64) Trend {
	n := float64(len(means))
	t := Trend{Blocks: len(means)}
	if len(means) == 0 {
		return t
	}
	for _, m := range means {
		t.Mean += m / n
	}
	if len(means) < 4 {
		return t
	}
	var sxx, sxy float64
	for i, m := range means {
		x := float64(i) - (n-1)/2
		sxx += x * x
		sxy += x * (m - t.Mean)
	}
	t.Slope = sxy / sxx
	t.Growth = t.Slope * (n - 1)

	var rss, lagged, last float64
	for i, m := range means {
		r := m - t.Mean - t.Slope*(float64(i)-(n-1)/2)
		rss += r * r
		if i > 0 {
			lagged += r * last
		}
		last = r
	}
	if rss <= 1e-18*(t.Mean*t.Mean+1) { // an exact line
		if t.Slope != 0 {
			t.T = math.Copysign(math.MaxFloat32, t.Slope)
		}
		return t
	}
	r := min(max(lagged/rss, 0), 0.95)
	independent := max(n*(1-r)/(1+r), 3)
	// With n samples the error would be sqrt(rss/(n-2)/sxx); both factors shrink
	// with the number of independent ones.
	se := math.Sqrt(rss / n / sxx * n / (independent - 2))
	t.T = t.Slope / se
	return t
}

// BlockMeans cuts values into blocks of equal length and returns their means.
// Values that fill no whole block at the beginning are left out.
func BlockMeans(values []float64, blocks int) []float64 {
	size := len(values) / blocks
	if size == 0 {
		return nil
	}
	values = values[len(values)-size*blocks:]
	means := make([]float64, blocks)
	for i := range means {
		for _, v := range values[i*size : (i+1)*size] {
			means[i] += v / float64(size)
		}
	}
	return means
}
