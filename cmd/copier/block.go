package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
)

// blockSize is how much of a file goes into one message.
const blockSize = 1 << 20

// A block is a part of a file, as a message: the length of its description in 2 bytes, the
// description in JSON, and the bytes.
type block struct {
	Name   string `json:"name"` // relative to the receiver's directory
	Size   int64  `json:"size"` // of the file
	Offset int64  `json:"offset"`
	SHA256 []byte `json:"sha256"` // of the file
	bytes  []byte
}

func (b *block) encode() ([]byte, error) {
	text, err := json.Marshal(b)
	if err != nil || len(text) > 1<<16-1 {
		return nil, errors.Join(err, errors.New("the file's name is too long"))
	}
	return append(append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...), b.bytes...), nil
}

func decode(data []byte) (b block, err error) {
	if len(data) < 2 || len(data)-2 < int(binary.BigEndian.Uint16(data)) {
		return b, errors.New("a message that is no block of a file")
	}
	n := int(binary.BigEndian.Uint16(data))
	if err := json.Unmarshal(data[2:2+n], &b); err != nil {
		return b, err
	}
	b.bytes = data[2+n:]
	if b.Size < 0 || b.Offset < 0 || b.Offset > b.Size || int64(len(b.bytes)) > b.Size-b.Offset {
		return b, errors.New("a block that is not within its file")
	}
	return b, nil
}
