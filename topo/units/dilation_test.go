package units

import (
	"math"
	"testing"
)

func TestDilation(t *testing.T) {
	for _, c := range []struct {
		d       Dilation
		nominal Time
		kernel  int64
	}{
		{1, 5, 5}, {1000, 5, 5000}, {1000, -5, -5000}, {MaxDilation, Second, 1e15},
		{2, Never, math.MaxInt64}, {2, -Never, -math.MaxInt64}, {3, math.MaxInt64 / 3, math.MaxInt64 - 1},
	} {
		if got := c.d.ToKernel(c.nominal); got != c.kernel {
			t.Errorf("%v at %d is %d, want %d", c.nominal, c.d, got, c.kernel)
		}
	}
	for _, c := range []struct {
		d      Dilation
		kernel int64
		want   Time
	}{{1, -7, -7}, {10, 19, 1}, {10, 20, 2}, {10, 0, 0}, {10, -1, -1}, {10, -10, -1}, {10, -11, -2}} {
		if got := c.d.ToNominal(c.kernel); got != c.want {
			t.Errorf("%d of the kernel's ns at %d are %d, want %d", c.kernel, c.d, got, c.want)
		}
	}
	for _, c := range []struct {
		d    Dilation
		want BitsPerSecond
	}{{1, 100 * Gbps}, {1000, 100 * Mbps}, {3, 33_333_333_333}, {7, 14_285_714_286}} {
		if got := c.d.Rate(100 * Gbps); got != c.want {
			t.Errorf("100 Gbps at %d is %d bit/s, want %d", c.d, got, c.want)
		}
	}
}
