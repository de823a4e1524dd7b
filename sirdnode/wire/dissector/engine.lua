-- sirdbed dissector
-- Wireshark's dissector of the transports in sirdbed, by UDP port. `sirdbed dissector` writes this file from the tables
-- that sirdbed itself reads headers by; `sirdbed dissector install` puts it where Wireshark looks, again after updates.

-- PROTOCOLS

-- Wireshark loads a file twice that lies in two of its directories.
if sirdbed_dissector then return end
sirdbed_dissector = true

local crc_length = 4
local checked = { [0] = "Bad", [1] = "Good", [2] = "Unverified" }

-- The CRC32C, over the addresses and all from the UDP header on but itself. UDP's own checksum is 0 in every frame.
local crc_table = {}
for i = 0, 255 do
  local c = i
  for _ = 1, 8 do
    c = bit.band(c, 1) == 1 and bit.bxor(bit.rshift(c, 1), 0x82f63b78) or bit.rshift(c, 1)
  end
  crc_table[i] = c
end

local function crc32c(c, text)
  for i = 1, #text do
    c = bit.bxor(bit.rshift(c, 8), crc_table[bit.band(bit.bxor(c, text:byte(i)), 0xff)])
  end
  return c
end

local function two(n) return string.char(math.floor(n / 256) % 256, n % 256) end

local ip_source, ip_destination = Field.new("ip.src"), Field.new("ip.dst")

local function is_good(tvb, pinfo)
  local from, to = { ip_source() }, { ip_destination() }
  if #from == 0 or #to == 0 then return nil end
  local head = from[#from].range:raw() .. to[#to].range:raw() .. two(pinfo.src_port) .. two(pinfo.dst_port) ..
    two(tvb:len() + 8) .. two(0)
  local c = crc32c(0xffffffff, head)
  c = crc32c(c, tvb:raw(crc_length, tvb:len() - crc_length))
  return bit.tohex(bit.bnot(c)) == bit.tohex(tvb(0, crc_length):uint())
end

local function title(name) return (name:gsub("_", " "):gsub("^%l", string.upper)) end

local function register(p)
  local proto = Proto(p.name, p.name .. " (sirdbed)")
  local abbreviation = p.name:lower() .. "."
  local shown = {} -- ProtoField by name
  local list = {}
  local function add(name, field)
    shown[name] = field
    list[#list + 1] = field
  end

  add("crc32c", ProtoField.uint32(abbreviation .. "crc32c", "CRC32C", base.HEX, nil, nil,
    "of addresses, ports, header and payload"))
  add("crc32c.status", ProtoField.uint8(abbreviation .. "crc32c.status", "CRC32C status", base.DEC, checked))
  if p.version ~= 0 then
    add("version", ProtoField.uint8(abbreviation .. "version", "Version", base.DEC, nil, 0xf0))
  end
  local names = {}
  for value, kind in pairs(p.types) do names[value] = kind.name end
  add("type", ProtoField.uint8(abbreviation .. "type", "Type", base.DEC, names, p.version ~= 0 and 0x0f or nil))
  for _, f in ipairs(p.fields) do
    if not shown[f.name] then
      local id = abbreviation .. f.name
      if f.flag then
        add(f.name, ProtoField.bool(id, title(f.name), 8, nil, f.mask, f.doc))
      elseif f.mask ~= 0 then
        add(f.name, ProtoField.uint8(id, title(f.name), base.DEC, nil, f.mask, f.doc))
      else
        -- A field of two sizes has the larger one.
        add(f.name, ProtoField.uint32(id, title(f.name), base.DEC, nil, nil, f.doc))
      end
    end
  end
  add("payload_length", ProtoField.uint32(abbreviation .. "payload_length", "Payload length", base.DEC, nil, nil,
    "bytes of the message in this packet"))
  add("payload", ProtoField.bytes(abbreviation .. "payload", "Payload"))
  proto.fields = list

  local unknown = ProtoExpert.new(abbreviation .. "unknown", "unknown version or type", expert.group.MALFORMED,
    expert.severity.ERROR)
  local cut = ProtoExpert.new(abbreviation .. "cut", "header is cut off", expert.group.MALFORMED, expert.severity.WARN)
  local damaged = ProtoExpert.new(abbreviation .. "damaged", "CRC32C does not match", expert.group.CHECKSUM,
    expert.severity.ERROR)
  proto.experts = { unknown, cut, damaged }
  proto.prefs.check_crc = Pref.bool("Check the CRC32C", false, "takes a millisecond for a packet of 9 KB")

  local function number(range, f)
    local n = range:uint()
    if f.mask == 0 then return n end
    return bit.rshift(bit.band(n, f.mask), f.shift)
  end

  local function checksum(tvb, pinfo, tree)
    local at = tvb(0, crc_length)
    tree:add(shown["crc32c"], at)
    local status = 2
    if proto.prefs.check_crc and tvb:len() == tvb:reported_len() then
      local good = is_good(tvb, pinfo)
      if good then
        status = 1
      elseif good == false then
        status = 0
        tree:add_proto_expert_info(damaged)
      end
    end
    tree:add(shown["crc32c.status"], at, status):set_generated()
  end

  function proto.dissector(tvb, pinfo, root)
    pinfo.cols.protocol = p.name
    local tree = root:add(proto, tvb())
    if tvb:len() < crc_length + 1 then
      tree:add_proto_expert_info(cut)
      return tvb:len()
    end
    checksum(tvb, pinfo, tree)

    local first = tvb(crc_length, 1)
    local value, version = first:uint(), 0
    if p.version ~= 0 then
      version = bit.rshift(value, 4)
      value = bit.band(value, 15)
      tree:add(shown["version"], first)
    end
    tree:add(shown["type"], first)
    local kind = p.types[value]
    if not kind or version ~= p.version then
      pinfo.cols.info = "unknown version or type"
      tree:add_proto_expert_info(unknown)
      return tvb:len()
    end

    local info = { kind.name }
    local missing = false
    local length, repeated = kind.len, 0
    local function here(f, i)
      local at = crc_length + f.at + i * f.each
      if at + f.size > tvb:len() then
        missing = true
        return nil
      end
      return tvb(at, f.size)
    end
    for _, f in ipairs(p.fields) do
      if f.count and (not f.types or f.types[value]) then
        local range = here(f, 0)
        repeated = range and number(range, f) or 0
        length = length + kind.each * repeated
      end
    end
    for _, f in ipairs(p.fields) do
      if not f.types or f.types[value] then
        for i = 0, f.each == 0 and 0 or repeated - 1 do
          local range = here(f, i)
          if not range then break end
          tree:add(shown[f.name], range)
          local n = number(range, f)
          if f.flag then
            if n ~= 0 then info[#info + 1] = f.name end
          elseif f.told then
            info[#info + 1] = f.name .. "=" .. n
          end
        end
      end
    end

    local after = crc_length + length
    if missing or after > tvb:len() then
      tree:add_proto_expert_info(cut)
    end
    local payload = tvb:reported_len() - after
    if payload >= 0 then
      tree:add(shown["payload_length"], payload):set_generated()
      if kind.data then info[#info + 1] = "payload=" .. payload end
      if tvb:len() > after then tree:add(shown["payload"], tvb(after)) end
    end
    local text = table.concat(info, " ")
    pinfo.cols.info = text
    tree:append_text(", " .. text)
    return tvb:len()
  end

  DissectorTable.get("udp.port"):add(p.port, proto)
end

for _, p in ipairs(protocols) do register(p) end
