package traffic

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// The three workloads of the paper (README, Workloads). Their sources are stated at
// the top of each file.
//
//go:embed workloads/*.csv
var workloadFiles embed.FS

var workloadNames = []string{"wka", "wkb", "wkc"}

// parsedWorkloads reads the embedded files once; nothing changes them after.
var parsedWorkloads = sync.OnceValue(func() map[string]*Distribution {
	all := map[string]*Distribution{}
	for _, name := range workloadNames {
		file, err := workloadFiles.Open("workloads/" + name + ".csv")
		if err != nil {
			panic(err)
		}
		d, err := ParseDistribution(name, file)
		if err != nil {
			panic(err) // a test reads all three
		}
		file.Close()
		all[name] = d
	}
	return all
})

// Workloads lists the names that Workload accepts.
func Workloads() []string { return slices.Clone(workloadNames) }

// Workload returns one of the paper's size distributions: "wka" (Google RPCs,
// Homa's W3), "wkb" (Facebook Hadoop, W4) or "wkc" (web search, W5).
func Workload(name string) (*Distribution, error) {
	if d, ok := parsedWorkloads()[name]; ok {
		return d, nil
	}
	return nil, fmt.Errorf("no workload is called %q: want one of %s", name, strings.Join(workloadNames, ", "))
}
