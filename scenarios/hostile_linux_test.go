package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// most is what reading any file may take of memory and of a processor.
const (
	mostBytes = 200_000_000
	mostTime  = time.Second
)

// used runs something and returns what it took: bytes allocated, and time of all
// processors that this process had, which others on the machine do not change.
func used(run func()) (bytes uint64, took time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processors()
	run()
	took = processors() - began
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took
}

func processors() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// many repeats a piece of a file, with a number in it.
func many(n int, piece string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, piece, i)
	}
	return b.String()
}

const (
	plain    = "name: x\ntopology: {leaves: 1, hosts_per_leaf: 4, host_rate: 100Gbps, host_delay: 2us}\nduration: 1ms\n"
	stream   = "  - name: s%d\n    pattern: fixed\n    size: 8B\n    interval: 40us\n"
	oneKind  = plain + "traffic: [{name: s, pattern: fixed, size: 8B, interval: 40us}]\n"
	widest   = "topology: {leaves: 249, hosts_per_leaf: 250, spines: 200, host_rate: 100Gbps, host_delay: 2us,"
	wideCore = " core_rate: 400Gbps, core_delay: 1us}\n"
	wide     = "name: x\nduration: 1ms\n" + widest + wideCore +
		"traffic: [{name: s, pattern: fixed, size: 8B, interval: 40us}]\n"
)

// Whatever a file holds, it is read or refused within a second of a processor and 200
// MB, with its place in the file.
func TestHostileFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"NaN", oneKind + "sird: {credit_rate: .nan}\n", `f.yaml:5:21: credit_rate: want a number, not ".nan"`},
		{"NaN as a text", oneKind + "sird: {credit_rate: NaN}\n",
			`f.yaml:5:21: credit_rate: want a number, not "NaN"`},
		{"infinite share", oneKind + "sird: {credit_rate: .inf}\n",
			`f.yaml:5:21: credit_rate: want a number, not ".inf"`},
		{"infinite bound", oneKind + "bounds: [{name: b, metric: latency_us, max: .inf}]\n",
			`f.yaml:5:45: max: want a number, not ".inf"`},
		{"bound that is none", oneKind + "bounds: [{name: b, metric: latency_us, min: .nan}]\n",
			`f.yaml:5:45: min: want a number, not ".nan"`},
		{"minus infinity", oneKind + "sird: {b: -.inf}\n", `f.yaml:5:11: b: "-.inf" is not a multiple of the BDP`},
		{"number too large for any", oneKind + "faults: {drop: 1e400}\n",
			`f.yaml:5:16: drop: want a number, not "1e400"`},
		{"seed of 65 bits", oneKind + "seed: 18446744073709551616\n",
			`f.yaml:5:7: seed is 18446744073709551616: want 1 to 9007199254740991: `},
		{"seed 0", oneKind + "seed: 0\n", `f.yaml:5:7: seed is 0: want 1 to 9007199254740991: `},
		{"4.9 hosts", strings.Replace(oneKind, "leaf: 4", "leaf: 4.9", 1),
			`f.yaml:2:39: hosts_per_leaf: want a whole number, not "4.9"`},
		{"octal hosts", strings.Replace(oneKind, "leaf: 4", "leaf: 010", 1),
			`f.yaml:2:39: hosts_per_leaf: want a whole number, not "010"`},
		{"no host_rate", strings.Replace(oneKind, "host_rate: 100Gbps, ", "", 1),
			`f.yaml:2:1: topology.host_rate: missing: want 1Mbps to 10Tbps: `},
		{"variant's warm-up", oneKind + "variants: [{name: a, warmup: 9223372036s}]\n",
			`f.yaml:5:30: warmup is 9223372036s: want 0ns to 3600s: `},
		{"variant's drain", oneKind + "variants: [{name: a, drain: 9223372036s}]\n",
			`f.yaml:5:29: drain is 9223372036s: want 0ns to 3600s: `},
		{"31 years", oneKind + "dilation: 1000000\nwarmup: 1000s\n", `f.yaml:5:11: 1000000 times 1000.001s of nominal`},
		{"variants of one label", oneKind + "protocols: [sird, homa]\nvariants: [{name: a}, " +
			"{name: a-sird, protocol: sird}]\n",
			`f.yaml:6:30: with sird its results are called "a-sird", as those of variant "a" with sird are`},
		{"UTF-16", "n\x00a\x00m\x00e\x00", "f.yaml:1:2: the character U+0000: want text that can be printed, as UTF-8"},
		{"Latin-1", plain + "paper: caf\xe9\n", "f.yaml:4:11: not UTF-8: save the file as UTF-8"},
		{"escapes", plain + "paper: \x1b[2J\n", "f.yaml:4:8: the character U+001B: want text that can be printed"},
		{"escapes in YAML's words", oneKind + "variants: [{name: a, description: \"\\e[2J\"}]\n",
			`f.yaml:5:35: description has the character U+001B: want what can be printed`},
		{"a stream's name", strings.Replace(oneKind, "name: s,", `name: "\e[2J",`, 1),
			`f.yaml:4:18: name has the character U+001B: want what can be printed`},
		{"text from right to left", plain + "paper: a\u202eb\n", "f.yaml:4:9: the character U+202E: want text"},
		{"unknown key of escapes", oneKind + "\"\\e[2J\": 1\n", `f.yaml:5:1: unknown key "\x1b[2J" in the scenario: `},
		{"300 streams", plain + "traffic:\n" + many(300, stream),
			"f.yaml:5:3: traffic has 300: want 1 to 127 items: a message's tag has 7 bits for its stream"},
		{"127 streams", plain + "traffic:\n" + many(127, stream), ""},
		{"2,000 variants", oneKind + "variants:\n" + many(2000, "  - {name: v%[1]d, sird: {b: %[1]d.5}, load: 0}\n"),
			`f.yaml:6:26: b is 0.5: want 1 to`},
		{"2,000 sound variants", oneKind + "variants:\n" + many(2000, "  - {name: v%[1]d, sird: {b: 1.%[1]d}}\n"), ""},
		{"2,000 variants of 62,250 hosts", wide +
			"variants:\n" + many(2000, "  - {name: v%[1]d, sird: {b: 1.%[1]d}}\n"), ""},
		{"1,000 bounds on 2,000 variants", oneKind + "variants:\n" + many(2000, "  - {name: v%[1]d}\n") + "bounds:\n" +
			many(1000, "  - {name: b, metric: latency_us, max: 1, variant: v%[1]d, stream: s}\n"), ""},
		{"1,000 wrong bounds on 2,000 variants", oneKind + "variants:\n" + many(2000, "  - {name: v%[1]d}\n") +
			"bounds:\n" + many(1000, "  - {name: b, metric: latency_us, max: 1, variant: w%[1]d, stream: s}\n"),
			`f.yaml:2007:52: no variant is called "w0"`},
		{"1,000 captures of 62,250 hosts", func() string {
			text := wide + "capture:\n"
			for i := range 999 {
				text += fmt.Sprintf("  - h%d-%d\n", i/250+1, i%250+1)
			}
			return text + "  - x\n"
		}(), "f.yaml:1005:5: no node or port is called \"x\""},
		{"incast to 62,250 hosts", strings.Replace(wide, "pattern: fixed", "fan_in: 62249, pattern: incast", 1), ""},
		{"100,000 brackets", "a: " + strings.Repeat("[", 100_000), "f.yaml:1:19: nested more than 16 deep"},
		{"100,000 braces", "a: " + strings.Repeat("{a: ", 50_000), "f.yaml:1:64: nested more than 16 deep"},
		{"100,000 dashes", strings.Repeat("- ", 100_000), "f.yaml:1:33: nested more than 16 deep"},
		{"a staircase", func() (s string) {
			for i := range 500 {
				s += strings.Repeat(" ", i) + "a:\n"
			}
			return s
		}(), "f.yaml:17:18: nested more than 16 deep"},
		{"100,000 question marks", strings.Repeat("? ", 100_000), `f.yaml:1:1: "?" is not for scenario files`},
		{"anchors", "a: " + strings.Repeat("&a ", 80_000) + "1", "f.yaml:1:4: anchors (&name) are not for"},
		{"tags", "a: " + strings.Repeat("!!a ", 60_000) + "1", "f.yaml:1:4: tags (!name) are not for"},
		{"laughs", "a: [1, 1]\nb: [*a, *a]\n", "f.yaml:2:5: aliases (*name) are not for"},
		{"10,000 keys", many(10_000, "k%d: 1\n"), "f.yaml:101:1: more than 100 keys"},
		{"10,000 keys in braces", "{" + many(10_000, "k%d: 1, ") + "}", "f.yaml:1:792: more than 100 keys"},
		{"a long number", oneKind + "seed: " + strings.Repeat("9", 250_000) + "\n", "f.yaml:5:7: seed"},
		{"a long time", strings.Replace(oneKind, "1ms", strings.Repeat("9", 250_000)+"s", 1),
			"f.yaml:3:11: duration: "},
		{"a long key", oneKind + strings.Repeat("k", 250_000) + ": 1\n", "f.yaml:5:1: unknown key \"kkk"},
		{"a long name", strings.Replace(oneKind, "name: s", "name: "+strings.Repeat("s", 250_000), 1),
			"f.yaml:4:18: name has 250000: want 1 to 64 characters"},
		{"many small lists", plain + "traffic: [" + strings.Repeat("[],", 80_000) + "]",
			"f.yaml:4:10: traffic has 80000: want 1 to 127 items"},
		{"many empty lines", strings.Repeat("\n", 250_000), "f.yaml: the file is empty"},
		{"many hosts", strings.Replace(oneKind, "size: 8B", "from: ["+strings.Repeat("h1-1, ", 40_000)+"]", 1),
			"f.yaml:4:"},
		{"too large", strings.Repeat("#\n", 150_000), "f.yaml: more than 256KB: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var err error
			bytes, took := used(func() { _, err = Parse("f.yaml", ".", []byte(c.text)) })
			got := ""
			if err != nil {
				got = err.Error()
			}
			if c.want == "" && err != nil || !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %.300s\nwant %s", got, c.want)
			}
			t.Logf("%d bytes took %d MB, %v", len(c.text), bytes/1e6, took)
			if bytes > mostBytes || took > mostTime {
				t.Errorf("took %d MB and %v, want at most %d MB and %v", bytes/1e6, took, mostBytes/1_000_000, mostTime)
			}
			if len(got) > 10_000 || strings.ContainsAny(got, "\x1b\x00\u202e") {
				t.Errorf("an error of %d bytes: %.500q, want a short one that prints", len(got), got)
			}
		})
	}
}

// The same values by --set.
func TestHostileChanges(t *testing.T) {
	for change, want := range map[string]string{
		"sird.credit_rate=.nan":               `credit_rate: want a number, not ".nan"`,
		"seed=18446744073709551616":           "seed is 18446744073709551616: want 1 to 9007199254740991",
		"topology.hosts_per_leaf=4.9":         `hosts_per_leaf: want a whole number, not "4.9"`,
		"traffic[0].name=\"\\e[2J\"":          "name has the character U+001B: want what can be printed",
		"traffic[0].name=\x1b[2J":             "the character U+001B: want text that can be printed",
		"sird.b=" + strings.Repeat("[", 3000): "nested more than 16 deep: no part of a scenario is",
		"paper=" + strings.Repeat("x", 5000):  "more than 4KB: a longer value is for the file",
		strings.Repeat("a.", 4000) + "b=1":    "more than 16 steps: no part of a scenario is nested as deep",
	} {
		t.Run(fmt.Sprintf("%.40q", change), func(t *testing.T) {
			c, err := ParseChange(change)
			if err != nil {
				t.Fatal(err)
			}
			bytes, took := used(func() { _, err = Parse("f.yaml", ".", []byte(oneKind), c) })
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") ||
				len(err.Error()) > 10_000 {
				t.Errorf("got %.500q, want %s", err, want)
			}
			if bytes > mostBytes || took > mostTime {
				t.Errorf("took %d MB and %v, want at most %d MB and %v", bytes/1e6, took, mostBytes/1_000_000, mostTime)
			}
		})
	}
}

// Editors on Windows begin files with a byte order mark.
func TestByteOrderMark(t *testing.T) {
	if _, err := Parse("f.yaml", ".", []byte("\ufeff"+oneKind)); err != nil {
		t.Errorf("got %v, want it read", err)
	}
	want := "f.yaml:1:7: "
	if _, err := Parse("f.yaml", ".", []byte("\ufeff"+strings.Replace(oneKind, "x", "X", 1))); err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want an error at %s", err, want)
	}
}

// What is no file is refused, and opening it waits for nobody.
func TestFilesThatAreNoFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 1<<40); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		fifo: "a pipe: want a regular file", "/dev/zero": "a device: want a regular file",
		dir: "a directory: want a regular file", large: "more than ",
	} {
		list := strings.Replace(oneKind, "fixed, size: 8B, interval: 40us", "list, file: "+path, 1)
		for name, read := range map[string]func() error{
			"scenario": func() error { _, err := Load(path); return err },
			"list":     func() error { _, err := Parse("f.yaml", ".", []byte(list)); return err },
		} {
			t.Run(name+" "+filepath.Base(path), func(t *testing.T) {
				done := make(chan error, 1)
				go func() { done <- read() }()
				select {
				case err := <-done:
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("got %v, want %q", err, want)
					}
				case <-time.After(time.Minute):
					t.Fatal("waits, want it refused")
				}
			})
		}
	}
}

// FuzzLoad: whatever a file holds, it is read or refused, within a second of a
// processor and 200 MB.
func FuzzLoad(f *testing.F) {
	narrow := strings.NewReplacer("249", "4", "250", "4", "200", "2") // the widest fabrics take 100 ms each
	f.Add([]byte(good))
	for _, name := range Names() {
		text, _ := embedded.ReadFile(name + ".yaml")
		f.Add(text)
	}
	for _, text := range []string{
		oneKind + "sird: {credit_rate: .nan}\n", oneKind + "bounds: [{name: b, metric: latency_us, max: .inf}]\n",
		"\ufeff" + oneKind, "a: " + strings.Repeat("[", 100), strings.Repeat("- ", 100), plain + "traffic:\n" +
			many(200, stream), "a: &a 1\nb: *a\n", "? a\n: b\n", "a: !!b c\n", "\"\\e\": |\n  x\n", protocolBounds,
		narrow.Replace(wide),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s *Scenario
		var err error
		bytes, took := used(func() { s, err = Parse("f.yaml", "/nonexistent", text) })
		if bytes > mostBytes || took > mostTime {
			t.Errorf("took %d MB and %v, want at most %d MB and %v", bytes/1e6, took, mostBytes/1_000_000, mostTime)
		}
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x1b\x00") || len(err.Error()) > 20_000 {
				t.Errorf("an error of %d bytes: %.500q, want a short one that prints", len(err.Error()), err)
			}
			return
		}
		if _, err := s.Experiments(Options{}); err != nil {
			t.Errorf("%v, of what was read", err)
		}
	})
}
