package units

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

type unit struct {
	name  string
	value int64
}

// Units from small to large; the printed form uses the largest in which the
// value is at least one.
var (
	timeUnits = []unit{{"ns", 1}, {"us", 1000}, {"ms", 1e6}, {"s", 1e9}}
	byteUnits = []unit{{"B", 1}, {"KB", 1000}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 1 << 10}, {"MiB", 1 << 20},
		{"GiB", 1 << 30}}
	rateUnits  = []unit{{"bps", 1}, {"Kbps", 1000}, {"Mbps", 1e6}, {"Gbps", 1e9}, {"Tbps", 1e12}}
	printBytes = byteUnits[:4]
)

// ParseTime reads a span of time such as "7.5us". It fails on a missing or
// unknown unit, on a negative value and on fractions of a nanosecond.
func ParseTime(s string) (Time, error) {
	v, err := parse("time", s, timeUnits)
	return Time(v), err
}

// ParseBytes reads an amount of data such as "216KB" or "inf". KB is 1000
// bytes, KiB 1024.
func ParseBytes(s string) (Bytes, error) {
	if strings.EqualFold(strings.TrimSpace(s), "inf") {
		return Unlimited, nil
	}
	v, err := parse("size", s, byteUnits)
	return Bytes(v), err
}

// ParseRate reads a rate such as "100Gbps".
func ParseRate(s string) (BitsPerSecond, error) {
	v, err := parse("rate", s, rateUnits)
	return BitsPerSecond(v), err
}

// maxText is longer than any quantity needs. A number of a million digits would take
// seconds.
const maxText = 64

func parse(what, s string, units []unit) (int64, error) {
	s = strings.TrimSpace(s)
	if len(s) > maxText {
		return 0, fmt.Errorf("%q... is not a %s: it has %d characters", s[:20], what, len(s))
	}
	i := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' })
	number, name := s, ""
	if i >= 0 {
		number, name = s[:i], strings.TrimSpace(s[i:])
	}
	// big.Rat also reads fractions and exponents; plain decimals are meant.
	value, ok := new(big.Rat).SetString(number)
	if !ok || number == "" {
		return 0, fmt.Errorf("%q is not a %s: want a number and a unit, one of %s", s, what, names(units))
	}
	if name == "" && value.Sign() == 0 {
		return 0, nil
	}
	for _, u := range units {
		if u.name != name {
			continue
		}
		if value.Sign() < 0 {
			return 0, fmt.Errorf("%s %q is negative", what, s)
		}
		value.Mul(value, new(big.Rat).SetInt64(u.value))
		if !value.IsInt() {
			return 0, fmt.Errorf("%s %q has a fraction of 1%s", what, s, units[0].name)
		}
		if !value.Num().IsInt64() {
			return 0, fmt.Errorf("%s %q is too large", what, s)
		}
		return value.Num().Int64(), nil
	}
	if name == "" {
		return 0, fmt.Errorf("%s %q has no unit: add one of %s", what, s, names(units))
	}
	return 0, fmt.Errorf("%s %q has the unknown unit %q: use one of %s", what, s, name, names(units))
}

func names(units []unit) string {
	list := make([]string, len(units))
	for i, u := range units {
		list[i] = u.name
	}
	return strings.Join(list, ", ")
}

// format prints v exactly, in the largest unit in which it is at least 1.
func format(v int64, units []unit) string {
	if v == 0 {
		return "0" + units[0].name
	}
	sign, abs := "", v
	if v < 0 && v != math.MinInt64 {
		sign, abs = "-", -v
	}
	u := units[0]
	for _, c := range units {
		if abs >= c.value {
			u = c
		}
	}
	whole, frac := abs/u.value, abs%u.value
	if frac == 0 {
		return fmt.Sprintf("%s%d%s", sign, whole, u.name)
	}
	digits := len(fmt.Sprint(u.value)) - 1
	return sign + strings.TrimRight(fmt.Sprintf("%d.%0*d", whole, digits, frac), "0") + u.name
}

// String prints t exactly, such as "7.5us".
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return format(int64(t), timeUnits)
}

// String prints b exactly, such as "216.912KB", or "inf".
func (b Bytes) String() string {
	if b == Unlimited {
		return "inf"
	}
	return format(int64(b), printBytes)
}

// String prints r exactly, such as "100Gbps".
func (r BitsPerSecond) String() string { return format(int64(r), rateUnits) }

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalText implements encoding.TextMarshaler.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// MarshalText implements encoding.TextMarshaler.
func (r BitsPerSecond) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Time) UnmarshalText(text []byte) (err error) {
	if string(text) == "never" {
		*t = Never
		return nil
	}
	*t, err = ParseTime(string(text))
	return err
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Bytes) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBytes(string(text))
	return err
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *BitsPerSecond) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRate(string(text))
	return err
}
