package traffic

import (
	"testing"
	"testing/quick"
)

func TestTagRoundTrip(t *testing.T) {
	round := func(s, i uint32) bool {
		stream, index := int(s%MaxStreams), int(i%(MaxIndex+1))
		tag, err := MakeTag(stream, index)
		reply := tag.Reply()
		return err == nil && tag.Stream() == stream && tag.Index() == index && !tag.IsReply() && tag.Request() == tag &&
			reply.IsReply() && reply.Stream() == stream && reply.Index() == index && reply.Request() == tag &&
			reply.Reply() == reply
	}
	if err := quick.Check(round, nil); err != nil {
		t.Error(err)
	}
	if tag, err := MakeTag(MaxStreams-1, MaxIndex); err != nil || tag != 0x7fffffff || tag.Reply() != 0xffffffff {
		t.Errorf("the last tag is %#x (%v), want 0x7fffffff", uint32(tag), err)
	}
	if tag, _ := MakeTag(2, 17); tag.String() != "2/17" || tag.Reply().String() != "2/17 reply" {
		t.Errorf("printed as %v, %v; want 2/17 and 2/17 reply", tag, tag.Reply())
	}
}

func TestTagsDoNotWrap(t *testing.T) {
	for _, c := range [][2]int{{MaxStreams, 0}, {-1, 0}, {0, MaxIndex + 1}, {0, -1}} {
		if tag, err := MakeTag(c[0], c[1]); err == nil {
			t.Errorf("message %d of stream %d has tag %v, want an error", c[1], c[0], tag)
		}
	}
}
