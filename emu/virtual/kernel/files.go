//go:build linux

// Package kernel has what the virtual engine's guest kernel is made of
// besides Linux itself: its configuration and a few changes to its source.
package kernel

import (
	_ "embed"
)

// Version is the series of Linux that Patch applies to.
const Version = "6.12"

// Config lists the options that are on, for "make allnoconfig".
//
//go:embed config
var Config []byte

// Patch is applied with "patch -p1".
//
//go:embed kernel.patch
var Patch []byte
