package traffic

import "fmt"

// Tag is the application's own field of a message, which every transport carries to
// the receiver unread. It names the message among those of its source:
//
//	bit 31      set in the reply to a message
//	bits 30-24  index of the stream in the scenario, or Programs
//	bits 23-0   index of the message among those of this stream from this
//	            source; in a list, the position in the file
type Tag uint32

// Programs is the stream of messages that are of none: those of programs.
const Programs = MaxStreams - 1

// MaxIndex is the largest index of a message within a stream and source.
const MaxIndex = 1<<24 - 1

const replyBit Tag = 1 << 31

// MakeTag returns the tag of a request. It fails if stream is not within 0 to
// MaxStreams-1 or index not within 0 to MaxIndex.
func MakeTag(stream, index int) (Tag, error) {
	if stream < 0 || stream >= MaxStreams {
		return 0, fmt.Errorf("stream %d: a tag counts 0 to %d", stream, MaxStreams-1)
	}
	if index < 0 || index > MaxIndex {
		return 0, fmt.Errorf("message %d of a stream from one host: a tag counts 0 to %d", index, MaxIndex)
	}
	return Tag(stream)<<24 | Tag(index), nil
}

// Stream returns the index of the stream in the scenario.
func (t Tag) Stream() int { return int(t >> 24 & (MaxStreams - 1)) }

// Index returns the index of the message within its stream and source.
func (t Tag) Index() int { return int(t & MaxIndex) }

// IsReply reports whether the message is a reply.
func (t Tag) IsReply() bool { return t&replyBit != 0 }

// Reply returns the tag of the reply to t.
func (t Tag) Reply() Tag { return t | replyBit }

// Request returns the tag of the request that t answers, or t itself if it is
// one.
func (t Tag) Request() Tag { return t &^ replyBit }

// String prints the parts of a tag, such as "2/17" or "2/17 reply".
func (t Tag) String() string {
	if t.IsReply() {
		return fmt.Sprintf("%d/%d reply", t.Stream(), t.Index())
	}
	return fmt.Sprintf("%d/%d", t.Stream(), t.Index())
}
