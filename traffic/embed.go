package traffic

import "embed"

// Files are the source of this package: see sirdnode.Source.
//
//go:embed *.go workloads/*.csv
var Files embed.FS
