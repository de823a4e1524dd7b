package topo

import "embed"

// Sources are the Go files of this folder, by which package code tells versions of the
// code apart.
//
//go:embed *.go */*.go
var Sources embed.FS
