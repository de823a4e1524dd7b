// Package baselines holds the protocols that SIRD is compared with, one in each
// package below it.
package baselines

import "embed"

// Files are the source of all of them: see sirdnode.Source.
//
//go:embed */*.go
var Files embed.FS
