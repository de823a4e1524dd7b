package metric_test

import (
	"fmt"

	"sirdbed/capture/metric"
)

// A misspelled statistic is found before there is any result.
func ExampleMetric_Check() {
	m := metric.Metric{Name: "queue_bytes", Stat: "p95"}
	err := m.Check(func(field string) bool { return field == "stat" })
	fmt.Println(err)
	// Output: stat: queue_bytes has no statistic "p95": use one of max, mean, p99, p99.9
}
