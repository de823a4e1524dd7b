package topo

import "embed"

// Files are the source of this package and those below it: see sirdnode.Source.
//
//go:embed *.go units/*.go
var Files embed.FS
