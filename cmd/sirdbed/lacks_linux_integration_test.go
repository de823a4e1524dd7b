//go:build linux && !portable

package main

import (
	"os/exec"
	"strings"
	"testing"
)

// A results directory of a size that a run's logs do not fit into, in a mount
// namespace of the shell's own.
const tinyDisk = `mkdir tiny && mount -t tmpfs -o size=400k tmpfs tiny || { echo no mounts here; exit; }
"$SIRDBED" run real.yaml --set duration=40ms --set sample.gauges=2us --out tiny/r
echo "exit code $?"
find tiny -name '*.part' -o -name '*.new'
mount -o remount,size=8m tmpfs tiny
"$SIRDBED" report tiny/r
echo "report's exit code $?"`

// A disk that is full is one error that says so. What was measured is kept and
// can be reported when there is room; nothing half written is left.
func TestFullDiskKeepsWhatWasMeasured(t *testing.T) {
	b := build(t)
	unshare := unshareFlags(t, "--mount")
	b.write("tiny.sh", tinyDisk)
	cmd := b.other("unshare", append(unshare, "sh", "tiny.sh")...)
	cmd.Env = append(cmd.Env, "SIRDBED="+b.path)
	raw, err := cmd.CombinedOutput()
	out := string(raw)
	if err != nil || strings.Contains(out, "no mounts here") {
		t.Skipf("no mounts here: %v: %s", err, out)
	}
	run, report, ok := strings.Cut(out, "exit code 1\n")
	if !ok || strings.Count(out, "is full: free some space, or put results elsewhere with --out") != 1 {
		t.Fatalf("no exit code 1, or not one error:\n%s", out)
	}
	if strings.Contains(run, "To look at") || !strings.Contains(run, "Results: tiny/r") {
		t.Errorf("it promises what is not there:\n%s", run)
	}
	for _, bad := range []string{".part", ".new"} {
		if strings.Contains(report, bad) {
			t.Errorf("left: %s\n%s", bad, report)
		}
	}
	if !strings.Contains(report, " sird     bulk ") || !strings.Contains(report, "Verdict: INVALID") ||
		!strings.Contains(report, "To look at") || !strings.HasSuffix(report, "report's exit code 3\n") {
		t.Errorf("with room again:\n%s", report)
	}
	b.gone()
}

// unshareFlags are what program unshare takes to give a shell a namespace, or
// the test is skipped.
func unshareFlags(t *testing.T, flags ...string) []string {
	t.Helper()
	for _, program := range []string{"unshare", "setpriv"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	flags = append(flags, "--user", "--map-root-user")
	if out, err := exec.Command("unshare", append(flags, "true")...).CombinedOutput(); err != nil {
		t.Skipf("unshare: %v: %s", err, out)
	}
	return flags
}

// Where user namespaces are forbidden, an ordinary user is told how to allow
// them and what to do without, by run and by doctor.
func TestForbiddenUserNamespaces(t *testing.T) {
	b := build(t)
	unshareFlags(t)
	const forbidden = `unshare --user --map-user=1000 --map-group=1000 --keep-caps sh -c '
		echo 0 >/proc/sys/user/max_user_namespaces &&
			exec setpriv --ambient-caps=-all --inh-caps=-all "$SIRDBED" "$@"' sh `
	for command, want := range map[string][]string{
		"run real.yaml": {"user namespaces takes permission: sysctl -w user.max_user_namespaces=10000",
			"Run it with sudo, allow user namespaces, or use --engine model"},
		"doctor": {"engine real: cannot run here", "user.max_user_namespaces=10000", "CAP_SYS_ADMIN, as root has it"},
	} {
		out, err := b.sh(forbidden + command)
		if strings.Contains(out, "Permission denied") || strings.Contains(out, "unrecognized option") {
			t.Skip(out)
		}
		words := strings.Join(strings.Fields(out), " ")
		for _, w := range want {
			if !strings.Contains(words, w) {
				t.Errorf("%s does not say %q:\n%s", command, w, out)
			}
		}
		if code(err) != exitFailed || strings.Contains(out, "no space left") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	if out, err := b.sh("ls"); err != nil || out != "real.yaml\n" {
		t.Errorf("%v, left: %s", err, out)
	}
}

// A protocol that needs marks, on a kernel that has no marker for this user, is
// refused before anything is built, with the ways out.
func TestMissingMarker(t *testing.T) {
	b := build(t)
	unshare := unshareFlags(t)
	b.write("lossy.yaml", lossyScenario)
	run := func(set string) (string, error) {
		args := append(unshare, b.path, "run", "lossy.yaml", "--out", "r", "--set", set)
		out, err := b.other("unshare", args...).CombinedOutput()
		return string(out), err
	}
	out, err := b.other("unshare", append(unshare, b.path, "doctor")...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "no ECN marks") {
		t.Skipf("this kernel can mark for everyone: %v", err)
	}
	text, err := run("sird.ecn=core")
	if code(err) != exitFailed {
		t.Errorf("%v", err)
	}
	for _, want := range []string{"CONFIG_NET_SCH_RED", "with sudo", "--set sird.ecn=none", "--engine model"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if out, err := b.sh("ls"); err != nil || out != "lossy.yaml\nreal.yaml\n" {
		t.Errorf("%v, left: %s", err, out)
	}
}
