package limit

import "sirdbed/topo/units"

// What several limits come from.
const (
	// MaxSpan is the longest warm-up, window or drain: times of a run stay below 2^44 ns.
	MaxSpan = 3600 * units.Second
	// MaxRun is the longest run: warm-up, window and drain.
	MaxRun = 3 * MaxSpan
	// MaxKernelTime is the longest run by the kernel's clock, 31 years: added to the
	// clock of any machine it stays below 2^63 ns.
	MaxKernelTime int64 = 1e18
	// MaxRate is the fastest link. A byte lasts 0.8 ps on it.
	MaxRate = 10 * units.Tbps
	// MinRate is the slowest link. On it the largest message lasts 102 days, which in
	// ps is below 2^63.
	MinRate = units.Mbps
	// MaxMessage is the largest message or reply.
	MaxMessage units.Bytes = 1<<40 - 1
	// MaxStreams is how many streams a message's tag can tell apart, beside programs.
	MaxStreams = 127
	// MaxHosts is how many hosts the address plan has room for.
	MaxHosts = maxLeaves * maxHostsPerLeaf
	// MaxMTU is what switches carry that are set to jumbo frames, with room for tunnels.
	MaxMTU units.Bytes = 9216
	// MaxSeed is exact in JSON, where numbers are of 64-bit floating point.
	MaxSeed = 1<<53 - 1

	// MaxSpines is how many spines the address plan has room for.
	MaxSpines = 200

	// MaxPoints is how many points a sweep may have. At a second each they take a day.
	MaxPoints = 100_000

	maxLeaves, maxHostsPerLeaf = 249, 250
	maxName                    = 64
)

// Reasons that several fields have.
const (
	whyName    = "it is a name in tables and files"
	whyHost    = "it names a host or port, whose names are shorter"
	whyHosts   = "the address plan has room for as many hosts"
	whyProse   = "it is shown beside figures"
	whySpan    = "nominal times, and their sums, stay far from overflow"
	whyShare   = "it is a share of the packets"
	whyMessage = "a message's length has 40 bits"
	whyRun     = "no run is longer"
	whyVariant = "a variant and its protocol are called so"
	whyDelay   = "longer than across any data center"
	whyRate    = "sums of packets' times stay exact, and far from overflow"
	whyMark    = "the kernel's queues count bytes in 32 bits"
	whyLoad    = "a share of the link rate; more than 100 links' worth is a slip"
)

// Scenario has the limits of a scenario's own fields.
var Scenario = Table{
	Text("name", 1, maxName, "it names a directory of results"),
	Text("paper", 0, 200, whyProse),
	Prose("description", 4000, whyProse),
	Text("protocol", 1, 32, whyName),
	List("protocols", 1, 32, "there are fewer protocols"),
	Text("protocols[]", 1, 32, whyName),
	List("traffic", 1, MaxStreams, "a message's tag has 7 bits for its stream, and programs have one value"),
	List("apps", 0, maxApps, "each is a process, and a file of results"),
	List("variants", 1, 2000, "each is a run, and a directory of results"),
	List("sweep", 0, 16, "more dimensions have more points than can be run"),
	Number[uint64]("seed", 1, MaxSeed, "0 is a seed that is not given, and JSON's numbers are exact below 2^53"),
	Number[units.Time]("warmup", 0, MaxSpan, whySpan),
	Number("duration", 1, MaxSpan, whySpan),
	Number[units.Time]("drain", 0, MaxSpan, whySpan),
	Number("queue_limit", 1, MaxMark, whyMark).OrInfinite(),
	List("capture", 0, 1000, "each is a socket and a file"),
	Text("capture[]", 1, maxName, whyHost),
	Number[units.Bytes]("snap_len", 1, 1<<16-1, "no frame is longer").OrInfinite(),
	Number("dilation", 1, int64(units.MaxDilation), "the longest run's times stay below 2^63 by the kernel's clock"),
	List("bounds", 0, 1000, "each is evaluated for each variant"),
	List("hosts", 0, MaxHosts, whyHosts),
}

// Host has the limits of what is special about a host.
var Host = Table{
	Text("name", 1, maxName, whyHost),
	Text("device", 1, 15, "Linux has no longer names of interfaces"),
	Text("peer_mac", 17, 17, "a MAC address is six pairs of digits"),
}

// MaxMark is the largest queue limit or ECN threshold.
const MaxMark units.Bytes = 1<<32 - 1

// Variant has the limits of a variant.
var Variant = Table{
	Text("name", 1, maxName, "it names a directory of results"),
	Prose("description", 4000, whyProse),
	List("traffic", 1, MaxStreams, "a scenario has no more streams"),
	Text("traffic[]", 1, maxName, whyName),
	Number("load", 0, 100., whyLoad),
	Text("protocol", 1, 32, whyName),
	Number[units.Time]("warmup", 0, MaxSpan, whySpan),
	Number("duration", 1, MaxSpan, whySpan),
	Number[units.Time]("drain", 0, MaxSpan, whySpan),
}

// Axis has the limits of a dimension of a sweep.
var Axis = Table{
	Text("axis", 1, maxName, whyName),
	Text("set", 1, 1024, "it is the path of a parameter"),
	List("values", 1, MaxPoints, "each is at least a point"),
	Text("values[]", 1, 4096, "it is a value of a parameter"),
	List("options", 1, MaxPoints, "each is at least a point"),
}

// AxisOption has the limits of a setting with a name.
var AxisOption = Table{
	Text("name", 1, maxName, whyName),
	List("set", 0, 100, "each is a change to a scenario"),
	Text("set[]", 1, 8192, "it is a path and a value"),
}

// Sample has the limits of how often a run is looked at.
var Sample = Table{
	Number("queues", units.Microsecond, MaxSpan, "a look takes time, and is of use within the window"),
	Number("gauges", units.Microsecond, MaxSpan, "a look takes time, and is of use within the window"),
}

// Topology has the limits of a fabric.
var Topology = Table{
	Number("leaves", 1, maxLeaves, "the third byte of a host's address is its leaf's; above 249 are other nets"),
	Number("hosts_per_leaf", 1, maxHostsPerLeaf, "the last byte of a host's address is its number on its leaf"),
	Number("spines", 0, MaxSpines, "the second byte of an address over a spine is the spine's"),
	Number("host_rate", MinRate, MaxRate, whyRate),
	Number("core_rate", MinRate, MaxRate, whyRate),
	Number[units.Time]("host_delay", 0, units.Second, whyDelay),
	Number[units.Time]("core_delay", 0, units.Second, whyDelay),
	Number("mtu", 256, MaxMTU, "protocols' headers need the one, switches' jumbo frames have the other"),
	List("links", 0, MaxHosts+maxLeaves*MaxSpines, "the address plan has room for as many links"),
}

// Link has the limits of a link that differs from the rest.
var Link = Table{
	List("between", 2, 2, "a link has two ends"),
	Text("between[]", 1, maxName, whyHost),
	Number("rate", MinRate, MaxRate, whyRate),
	Number[units.Time]("delay", 0, units.Second, whyDelay),
}

// Stream has the limits of a stream.
var Stream = Table{
	Text("name", 1, maxName, whyName),
	List("from", 0, MaxHosts, whyHosts),
	Text("from[]", 1, maxName, whyHost),
	List("to", 0, MaxHosts, whyHosts),
	Text("to[]", 1, maxName, whyHost),
	Number[units.Time]("start", 0, MaxRun, whyRun),
	Number[units.Time]("stop", 0, MaxRun, whyRun),
	Number("reply", 0, MaxMessage, whyMessage),
	Number("rate", 1, MaxRate, "no link is faster"),
	Number("load", 0, 100., whyLoad),
	Number("interval", 1, MaxRun, whyRun),
	Number("size", 1, MaxMessage, whyMessage),
	Number("fan_in", 1, MaxHosts-1, "the address plan has room for as many other hosts"),
	Number("outstanding", 1, 1<<16, "more would fill the sender's memory, not the network"),
	Number[units.Time]("stagger", 0, MaxSpan, "the last of all hosts joins at a time below 2^63 ns"),
	Text("file", 1, 1024, "it is the path of a file"),
}

// ListRow has the limits of a row of a list of messages.
var ListRow = Table{
	Number[units.Time]("time", 0, MaxRun, whyRun),
	Text("src", 1, maxName, whyHost),
	Text("dst", 1, maxName, whyHost),
	Number("size", 1, MaxMessage, whyMessage),
	Number("reply", 0, MaxMessage, whyMessage),
}

// App has the limits of a program.
var App = Table{
	Text("name", 1, maxName, "it names a file of results"),
	Text("host", 1, maxName, whyHost),
	List("run", 1, 1000, "it is a command line"),
	Prose("run[]", 32<<10, "it is an argument of a command line"),
	List("after", 0, maxApps, "there are no more programs"),
	Text("after[]", 1, maxName, whyName),
	Text("ready", 1, 1024, "it is a port, the path of a file or an expression"),
	Number("ready_within", units.Millisecond, MaxSpan, whySpan),
	Number("timeout", units.Millisecond, MaxRun, whyRun),
	Number("restarts", 1, 1000, "more would hide a failure"),
	Text("expect", 1, 16, "it is an exit code"),
}

const maxApps = 1000

// Faults has the limits of faults.
var Faults = Table{
	Number("drop", 0, 1., whyShare),
	Number("duplicate", 0, 1., whyShare),
	Number("reorder", 0, 1., whyShare),
	Number[units.Time]("reorder_delay", 0, units.Second, "by any protocol's measure later is lost"),
	Number("corrupt", 0, 1., whyShare),
}

// Event has the limits of an entry of a timeline of faults.
var Event = Table{
	Number[units.Time]("at", 0, MaxRun, whyRun),
	Number[units.Time]("for", 0, MaxRun, whyRun),
	Text("link", 1, 2*maxName, whyHost),
	Text("host", 1, maxName, whyHost),
	Number("rate", MinRate, MaxRate, whyRate),
	Number[units.Time]("delay", 0, units.Second, whyDelay),
	Number("share", 0, 1., whyShare),
	Number[units.Time]("restart", 0, MaxRun, whyRun),
}

// Timeline has the limit of a list of faults.
var Timeline = Table{List("faults", 0, 1000, "each is looked at for each link")}

// Reference has the limits of what a bound is about, or compared with: whose
// metric, and which.
var Reference = Table{
	Text("variant", 1, 2*maxName, whyVariant),
	Text("protocol", 1, 32, whyName),
	Text("metric", 1, maxName, whyName),
	Text("stat", 1, maxName, whyName),
	Text("stream", 1, maxName, whyName),
	Text("group", 1, maxName, whyName),
	Text("definition", 1, maxName, whyName),
	Text("host", 1, maxName, whyHost),
	List("hosts", 0, MaxHosts, whyHosts),
	Text("hosts[]", 1, maxName, whyHost),
	Text("port", 1, maxName, whyHost),
	Text("switch", 1, maxName, whyHost),
	Text("gauge", 1, maxName, whyName),
	Text("counter", 1, maxName, whyName),
	Number[units.Time]("from", 0, MaxRun, whyRun),
	Number[units.Time]("to", 0, MaxRun, whyRun),
}

// Bound has the limits of a bound.
var Bound = append(Table{
	Text("name", 1, 200, whyName),
	List("engines", 0, 3, "there are three engines"),
	Number("per", 1, MaxMessage, "it is a number of bytes to divide by"),
	Text("unit", 0, 16, "it is printed behind each figure"),
	Number("min", -maxFigure, maxFigure, "no metric has larger figures, which JSON can hold"),
	Number("max", -maxFigure, maxFigure, "no metric has larger figures, which JSON can hold"),
	Prose("note", 1000, whyProse),
}, Reference...)

const maxFigure = 1e18
