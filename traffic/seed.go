package traffic

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"sirdbed/topo"
)

// everyHost takes the place of the host in a draw that all hosts make alike.
const everyHost topo.HostID = -1

// draws returns the random generator for one purpose ("gap", "size", ...) of
// one stream at one host. Streams differ by name, so their order and number do
// not matter; generators of the same purpose, stream, host and seed
// yield the same numbers everywhere.
func draws(seed uint64, stream string, host topo.HostID, purpose string) *rand.Rand {
	key := binary.LittleEndian.AppendUint64(nil, seed)
	key = binary.LittleEndian.AppendUint64(key, uint64(host))
	key = append(key, purpose...)
	key = append(key, 0)
	key = append(key, stream...)
	hash := sha256.Sum256(key)
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(hash[:8]), binary.LittleEndian.Uint64(hash[8:16])))
}
