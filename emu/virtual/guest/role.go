//go:build linux

package guest

import "errors"

// This program plays all roles of a guest but its kernel's. Each is started by an
// argument of its own; main must look for them before anything else.
var roles = map[string]func(args []string) error{
	initArgument:    func([]string) error { return Init() },
	cleanerArgument: func(args []string) error { return one(args, clean) },
	memoryArgument:  func([]string) error { return offerMemory() },
}

// Role returns the role for which this process was started, if that is one of a
// guest's. args are the program's, without its name.
func Role(args []string) (play func() error, ok bool) {
	if len(args) == 0 || roles[args[0]] == nil {
		return nil, false
	}
	return func() error { return roles[args[0]](args[1:]) }, true
}

// one passes the first argument on: a directory's name.
func one(args []string, f func(dir string) error) error {
	if len(args) == 0 {
		return errors.New("this command is for sirdbed itself, with a directory")
	}
	return f(args[0])
}
