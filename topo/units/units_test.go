package units

import (
	"math"
	"strings"
	"testing"
	"testing/quick"
)

func TestParse(t *testing.T) {
	if v, err := ParseTime("7.5us"); err != nil || v != 7500 {
		t.Errorf("7.5us = %d, %v; want 7500", v, err)
	}
	for in, want := range map[string]Bytes{"216KB": 216000, "1KiB": 1024, "inf": Unlimited} {
		if v, err := ParseBytes(in); err != nil || v != want {
			t.Errorf("%s = %d, %v; want %d", in, v, err, want)
		}
	}
	if v, err := ParseRate("0.4Tbps"); err != nil || v != 400*Gbps {
		t.Errorf("0.4Tbps = %d, %v; want 400 Gbps", v, err)
	}
}

func TestRatesThatCannotBe(t *testing.T) {
	for in, want := range map[string]string{
		"100":                     "has no unit",
		"100Gb":                   `unknown unit "Gb"`,
		"":                        "is not a rate",
		"1/2bps":                  "unknown unit",
		"-1bps":                   "negative",
		"0.5bps":                  "fraction",
		"99999999999999999999bps": "too large",
	} {
		if _, err := ParseRate(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRate(%q) = %v, want an error with %q", in, err, want)
		}
	}
}

func TestTextRoundTrip(t *testing.T) {
	f := func(v int64) bool {
		if v < 0 {
			v = -(v + 1)
		}
		ti, err1 := ParseTime(Time(v).String())
		by, err2 := ParseBytes(Bytes(v).String())
		ra, err3 := ParseRate(BitsPerSecond(v).String())
		return err1 == nil && err2 == nil && err3 == nil && int64(ti) == v && int64(by) == v && int64(ra) == v
	}
	if err := quick.Check(f, &quick.Config{MaxCount: 5000}); err != nil {
		t.Error(err)
	}
}

func TestSerialization(t *testing.T) {
	for _, c := range []struct {
		rate  BitsPerSecond
		bytes Bytes
		ps    int64
	}{{100 * Gbps, 1538, 123040}, {400 * Gbps, 84, 1680}, {100 * Gbps, 9038, 723040}, {1, 1, 8e12}} {
		if got := c.rate.Picoseconds(c.bytes); got != c.ps {
			t.Errorf("%v of %v = %d ps, want %d", c.bytes, c.rate, got, c.ps)
		}
	}
	for _, c := range []struct{ got, want int64 }{
		{Mbps.Picoseconds(1 << 62), math.MaxInt64}, {BitPerSecond.Picoseconds(1<<40 - 1), math.MaxInt64},
		{int64((10 * Tbps).BytesIn(Never)), int64(Unlimited)},
		{int64(BitPerSecond.TimeFor(1 << 50)), math.MaxInt64/1000 + 1},
	} {
		if c.got != c.want {
			t.Errorf("beyond the range: %d, want %d", c.got, c.want)
		}
	}
	if got := (100 * Gbps).BytesIn(18 * Microsecond); got != 225000 {
		t.Errorf("100 Gbps in 18 us = %d, want 225000", got)
	}
}
