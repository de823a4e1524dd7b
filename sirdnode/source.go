package sirdnode

import (
	"embed"
	"encoding/hex"
	"hash/fnv"
	"io"
	"io/fs"
	"sync"

	"sirdbed/baselines"
	"sirdbed/topo"
	"sirdbed/traffic"
)

//go:embed *.go */*.go */*/*.go
var source embed.FS

// sources are what a host process is made of, besides libraries: a test sees to it
// that none is missing.
var sources = []struct {
	name string
	fs   embed.FS
}{
	{"topo", topo.Files}, {"traffic", traffic.Files}, {"baselines", baselines.Files}, {"sirdnode", source},
}

// Source identifies the source that this program's host process was built from,
// committed or not. Two programs that agree on it, and were built by the same
// compiler with the same settings and libraries, are the same host.
var Source = sync.OnceValue(func() string {
	sum := fnv.New128a()
	for _, s := range sources {
		// Reading what is in the program does not fail.
		_ = fs.WalkDir(s.fs, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := s.fs.ReadFile(path)
			io.WriteString(sum, s.name+"/"+path+"\x00")
			sum.Write(text)
			return err
		})
	}
	return hex.EncodeToString(sum.Sum(nil))
})
