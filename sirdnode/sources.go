// Package sirdnode is the folder of what a host runs: its packages are below it.
package sirdnode

import "embed"

// Sources are the Go files of this folder, by which package code tells versions of the
// code apart.
//
//go:embed */*.go */*/*.go
var Sources embed.FS
