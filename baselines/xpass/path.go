package xpass

import "sirdbed/sirdnode/transport"

// address directs p to peer over the links of a connection. Credits have to cross
// the ports whose other direction the data will cross (ExpressPass paper, section
// 3.1; README, Paths), so both ends compute the spine from what identifies the
// connection.
func (x *XPass) address(p *transport.Packet, peer, sender, receiver transport.HostID, conn uint16) {
	h := pathHash(sender, receiver, conn)
	p.Peer, p.Entropy = peer, uint16(h)
	if f := x.env.Fabric; f.Spec.Spines > 0 && f.LeafOf(sender) != f.LeafOf(receiver) {
		p.Spine = 1 + int((h>>32)*uint64(f.Spec.Spines)>>32)
	}
}

// pathHash hashes what identifies a connection (the finalizer of splitmix64).
func pathHash(sender, receiver transport.HostID, conn uint16) uint64 {
	x := uint64(sender)<<40 | uint64(receiver)<<16 | uint64(conn)
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
