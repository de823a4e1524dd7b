// Package baselines is the folder of the protocols that SIRD is compared with: its
// packages are below it.
package baselines

import "embed"

// Sources are the Go files of this folder, by which package code tells versions of the
// code apart.
//
//go:embed */*.go */*/*.go
var Sources embed.FS
