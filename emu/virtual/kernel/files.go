//go:build linux

package kernel

import (
	_ "embed"
)

// What the guest's kernel is made of besides Linux itself. CONTRIBUTING says how to change it.

// Version is the series of Linux that Patch applies to.
const Version = "6.12"

// Config lists the options that are on, for "make allnoconfig". All others are off.
//
//go:embed config
var Config []byte

// Patch is applied with "patch -p1". It begins with a list of what it changes, and why.
//
//go:embed kernel.patch
var Patch []byte
