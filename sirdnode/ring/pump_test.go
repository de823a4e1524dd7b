//go:build linux

package ring

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"sirdbed/sirdnode/clock"
	"sirdbed/sirdnode/wire"
)

// pump sends count frames from a to b, each side on a thread of its own, and
// returns what the two saw.
func pump(t testing.TB, p pair, length int, c Config, useTap bool, count uint64) (sent, got PumpResult) {
	t.Helper()
	a := p.open(t, p.a, c)
	limit := PumpLimit{Frames: count, Idle: 500 * time.Millisecond}
	var receive func() (PumpResult, error)
	if useTap {
		tap := p.openTap(t, p.b, TapConfig{ReceivedOnly: true, Blocks: 32})
		receive = func() (PumpResult, error) { return PumpTap(tap, limit) }
	} else {
		b := p.open(t, p.b, Config{RxFrames: 4096})
		receive = func() (PumpResult, error) { return PumpReceive(b, limit) }
	}
	type end struct {
		result PumpResult
		err    error
	}
	received := make(chan end)
	go func() {
		err := clock.LockThread()
		r, receiveErr := receive()
		received <- end{r, errors.Join(err, receiveErr)}
	}()
	sending := make(chan end)
	go func() {
		err := clock.LockThread()
		frame := make([]byte, length)
		write(frame, 0)
		r, sendErr := PumpSend(a, frame, PumpLimit{Frames: count})
		sending <- end{r, errors.Join(err, sendErr)}
	}()
	s, r := <-sending, <-received
	if s.err != nil || r.err != nil {
		t.Fatal(s.err, r.err)
	}
	a.Close()
	return s.result, r.result
}

// Whatever is sent is received or counted as dropped.
func TestPumpConservesFrames(t *testing.T) {
	const count, length = 20000, 1514
	p := newPair(t, 1500)
	for _, useTap := range []bool{false, true} {
		sent, got := pump(t, p, length, Config{}, useTap, count)
		if sent.Frames != count || sent.Bytes != count*length || sent.SpanNS <= 0 {
			t.Errorf("sent %+v", sent)
		}
		if got.Frames+got.Drops != count || got.Bytes != got.Frames*length {
			t.Errorf("tap %v: received %+v", useTap, got)
		}
		if got.Frames > 1 && (got.PacketsPerSecond() <= 0 || got.Gbps() <= 0 || got.LastNS-got.FirstNS != got.SpanNS) {
			t.Errorf("tap %v: rates of %+v", useTap, got)
		}
	}
}

func TestPumpRefusesWhatNeverEnds(t *testing.T) {
	p := newPair(t, 1500)
	a := p.open(t, p.a, Config{})
	if _, err := PumpSend(a, make([]byte, 64), PumpLimit{}); err == nil {
		t.Error("a pump without a limit was started")
	}
	if _, err := PumpSend(a, make([]byte, 1515), PumpLimit{Frames: 1}); err == nil {
		t.Error("a frame too long was taken")
	}
}

// The reference of throughput: go test -bench Pump ./sirdnode/ring
func BenchmarkPump(b *testing.B) {
	for _, mtu := range []int{1500, 9000} {
		for _, bypass := range []bool{false, true} {
			for _, useTap := range []bool{false, true} {
				name := fmt.Sprintf("mtu=%d/qdisc=%v/tap=%v", mtu, !bypass, useTap)
				b.Run(name, func(b *testing.B) {
					p := newPair(b, mtu)
					_, got := pump(b, p, mtu+wire.EthernetLen, Config{BypassQdisc: bypass}, useTap, uint64(b.N))
					b.ReportMetric(got.PacketsPerSecond()/1e6, "Mpps")
					b.ReportMetric(got.Gbps(), "Gbps")
					b.ReportMetric(100*float64(got.Drops)/float64(b.N), "%lost")
				})
			}
		}
	}
}

// A frame there and a frame back between two waiting threads: two wake-ups.
func BenchmarkRoundTrip(b *testing.B) {
	p := newPair(b, 1500)
	near, far := p.open(b, p.a, Config{}), p.open(b, p.b, Config{})
	done := make(chan error)
	go func() {
		err := clock.LockThread()
		for n := uint64(0); n < uint64(b.N) && err == nil; n++ {
			if _, _, err = far.Wait(clock.Forever, nil); err == nil {
				far.Receive()
				far.Release()
				commit(far, n, 200)
				err = far.Flush()
			}
		}
		done <- err
	}()
	if err := clock.LockThread(); err != nil {
		b.Fatal(err)
	}
	var spans clock.Lateness
	b.ResetTimer()
	for n := range uint64(b.N) {
		start := clock.Monotonic()
		commit(near, n, 200)
		if err := near.Flush(); err != nil {
			b.Fatal(err)
		}
		_, now, err := near.Wait(clock.Forever, nil)
		if err != nil {
			b.Fatal(err)
		}
		near.Receive()
		near.Release()
		spans.Add(now - start)
	}
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(spans.Quantile(0.5)), "p50-ns")
	b.ReportMetric(float64(spans.Quantile(0.999)), "p99.9-ns")
}

// How late a thread wakes from Wait, and what a wait costs besides.
func BenchmarkWaitLateness(b *testing.B) {
	p := newPair(b, 1500)
	s := p.open(b, p.a, Config{})
	if err := clock.LockThread(); err != nil {
		b.Fatal(err)
	}
	var late clock.Lateness
	for b.Loop() {
		deadline := clock.Monotonic() + 50_000
		_, now, err := s.Wait(deadline, nil)
		if err != nil {
			b.Fatal(err)
		}
		late.Add(now - deadline)
	}
	b.ReportMetric(float64(late.Quantile(0.5)), "late-p50-ns")
	b.ReportMetric(float64(late.Quantile(0.999)), "late-p99.9-ns")
}
