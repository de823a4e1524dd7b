package points

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
)

// machine says what this machine is: "2 x AMD EPYC, linux/amd64".
var machine = sync.OnceValue(func() string {
	name := "processors"
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer f.Close()
		if model := modelName(f); model != "" {
			name = model
		}
	}
	return fmt.Sprintf("%d x %s, %s/%s", runtime.NumCPU(), name, runtime.GOOS, runtime.GOARCH)
})

// modelName is the first processor's in Linux's /proc/cpuinfo, "" if it has none, as on arm64.
func modelName(cpuinfo io.Reader) string {
	for lines := bufio.NewScanner(cpuinfo); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		if strings.TrimSpace(key) == "model name" {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}
