//go:build !unix

package tree

import "os"

// Own does nothing: there is no sudo.
func Own(*os.File) {}

// OwnAll does nothing: there is no sudo.
func (d *Dir) OwnAll() {}
