//go:build linux

package clock

import (
	"encoding/json"
	"fmt"
	"math/bits"
)

// The histogram's buckets are as wide as 1/32 of the power of two below them:
// below 32 ns each has one value, above they are 3 % wide.
const (
	subBits     = 5
	subBuckets  = 1 << subBits
	bucketCount = (63 - subBits + 1) * subBuckets
)

// A Lateness is a histogram of how late something was, in ns: wake-ups against
// their deadlines, packets against their due times. The zero value is empty.
// It takes 15 KB, and Add allocates nothing.
//
// A Lateness is not safe for concurrent use; give each thread its own and
// Merge them.
type Lateness struct {
	buckets [bucketCount]uint64
	count   uint64
	sum     float64
	max     int64
}

// Add counts one lateness. Early, a negative one, counts as 0: not late.
func (l *Lateness) Add(ns int64) {
	ns = max(ns, 0)
	l.buckets[bucketOf(ns)]++
	l.count++
	l.sum += float64(ns)
	l.max = max(l.max, ns)
}

// Count returns how many were added.
func (l *Lateness) Count() uint64 { return l.count }

// Max returns the largest, exactly; 0 when empty.
func (l *Lateness) Max() int64 { return l.max }

// Mean returns the mean in ns, 0 when empty.
func (l *Lateness) Mean() float64 {
	if l.count == 0 {
		return 0
	}
	return l.sum / float64(l.count)
}

// Quantile returns a value that at least a share q (0 to 1) of all do not
// exceed. It is at most 3.2 % above the smallest such value and never below it;
// 0 when empty.
func (l *Lateness) Quantile(q float64) int64 {
	if l.count == 0 {
		return 0
	}
	rank := uint64(q * float64(l.count))
	if float64(rank) < q*float64(l.count) || rank == 0 {
		rank++
	}
	var seen uint64
	for i, n := range l.buckets {
		if seen += n; seen >= rank {
			return min(lastOf(i), l.max)
		}
	}
	return l.max
}

// Merge adds all of another histogram's counts.
func (l *Lateness) Merge(other *Lateness) {
	for i, n := range other.buckets {
		l.buckets[i] += n
	}
	l.count += other.count
	l.sum += other.sum
	l.max = max(l.max, other.max)
}

// latenessJSON is what a Lateness looks like in summary.json: figures to read,
// and the filled buckets as [first ns, count] to merge.
type latenessJSON struct {
	Count   uint64      `json:"count"`
	MeanNS  float64     `json:"mean_ns"`
	P50NS   int64       `json:"p50_ns"`
	P99NS   int64       `json:"p99_ns"`
	P999NS  int64       `json:"p999_ns"`
	MaxNS   int64       `json:"max_ns"`
	Buckets [][2]uint64 `json:"buckets"`
}

// MarshalJSON implements json.Marshaler. It is a method of the value, so that a
// Lateness in a struct that is encoded by value is not left out.
func (l Lateness) MarshalJSON() ([]byte, error) {
	out := latenessJSON{
		Count: l.count, MeanNS: l.Mean(), MaxNS: l.max,
		P50NS: l.Quantile(0.5), P99NS: l.Quantile(0.99), P999NS: l.Quantile(0.999),
		Buckets: [][2]uint64{},
	}
	for i, n := range l.buckets {
		if n > 0 {
			out.Buckets = append(out.Buckets, [2]uint64{uint64(firstOf(i)), n})
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements json.Unmarshaler. It fails on buckets that a
// Lateness does not have and on counts that contradict one another.
func (l *Lateness) UnmarshalJSON(data []byte) error {
	var in latenessJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	read := Lateness{count: in.Count, sum: in.MeanNS * float64(in.Count), max: in.MaxNS}
	var total uint64
	for _, b := range in.Buckets {
		if b[0] > 1<<63-1 || firstOf(bucketOf(int64(b[0]))) != int64(b[0]) {
			return fmt.Errorf("lateness: no bucket begins at %d ns", b[0])
		}
		read.buckets[bucketOf(int64(b[0]))] += b[1]
		total += b[1]
	}
	if total != in.Count {
		return fmt.Errorf("lateness: %d in buckets, but count is %d", total, in.Count)
	}
	*l = read
	return nil
}

// bucketOf returns the bucket of a value that is not negative.
func bucketOf(ns int64) int {
	if ns < subBuckets {
		return int(ns)
	}
	shift := bits.Len64(uint64(ns)) - subBits - 1
	return shift<<subBits + int(ns>>shift)
}

// firstOf and lastOf return the smallest and largest value of a bucket.
func firstOf(bucket int) int64 {
	if bucket < subBuckets {
		return int64(bucket)
	}
	shift := bucket>>subBits - 1
	return int64(bucket&(subBuckets-1)|subBuckets) << shift
}

func lastOf(bucket int) int64 {
	if bucket < subBuckets {
		return int64(bucket)
	}
	return firstOf(bucket) + 1<<(bucket>>subBits-1) - 1
}
