package results

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
	"strings"
)

// A digest names the outcome of a run: its messages and its queues, in a fixed order
// and in nominal time only. On an engine with exact time the same seed gives the
// same digest, whenever and wherever it runs.

// digest returns the digest of one variant.
func (v *Variant) digest() string {
	h := sha256.New()
	text(h, v.Name)
	text(h, v.Protocol)
	numbers(h, int64(len(v.Messages)))
	for i := range v.Messages {
		m := &v.Messages[i]
		numbers(h, int64(m.Src), int64(m.Dst), int64(m.ID), int64(m.Tag), int64(m.Size),
			int64(m.Offered), int64(m.Delivered), int64(m.Acked), int64(m.Failed))
	}
	for port, samples := range v.Queues.Ports {
		numbers(h, int64(port), int64(len(samples)))
		for _, s := range samples {
			numbers(h, int64(s.At), s.Bytes, s.Packets)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Digest returns the digest of several variants, whatever their order.
func Digest(variants []*Variant) string {
	list := slices.Clone(variants)
	slices.SortFunc(list, func(a, b *Variant) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	for _, v := range list {
		text(h, v.Digest)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func text(h hash.Hash, s string) {
	numbers(h, int64(len(s)))
	h.Write([]byte(s))
}

func numbers(h hash.Hash, list ...int64) {
	var b [8]byte
	for _, n := range list {
		binary.LittleEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
}
