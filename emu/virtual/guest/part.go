package guest

import "errors"

// This program is also the parts that a guest consists of besides its kernel.
// Each is started by an argument of its own; main must look for them before
// anything else.
var parts = map[string]func(args []string) error{
	initArgument:    func(args []string) error { return one(args, Init) },
	cleanerArgument: func(args []string) error { return one(args, clean) },
	memoryArgument:  func([]string) error { return offerMemory() },
}

// Part returns what this process was started for, if that is to be a part of a
// guest. args are the program's, without its name.
func Part(args []string) (be func() error, ok bool) {
	if len(args) == 0 || parts[args[0]] == nil {
		return nil, false
	}
	return func() error { return parts[args[0]](args[1:]) }, true
}

// one passes the first argument on: a directory. The kernel adds others to those
// of process 1.
func one(args []string, f func(dir string) error) error {
	if len(args) == 0 {
		return errors.New("this command is for sirdbed itself, with a directory")
	}
	return f(args[0])
}
