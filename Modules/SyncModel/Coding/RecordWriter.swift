struct RecordWriter {
  var tables = TableWriter()
  let values: Bool

  init(values: Bool) { self.values = values }

  mutating func finished() -> [UInt8] {
    var head = ByteWriter()
    head.put(byte: ObjectRecord.format)
    head.put(byte: values ? 1 : 0)
    head.put(raw: tables.finished(base: 0))
    return head.bytes
  }

  mutating func put(_ guarding: EpochGuard) {
    tables.put(guarding.epoch)
    if guarding.epoch != .zero { tables.body.put(guarding.seq) }
  }

  mutating func put(_ node: Node) {
    tables.body.put(byte: node.isMade ? 1 : 0)
    put(node.guarding)
    put(node.contents)
  }

  private mutating func put(value: CellValue) {
    if values { tables.put(value) }
  }

  private mutating func put(_ contents: Contents) {
    // Without its value, a register against which no operation can lose carries no information.
    let registers = contents.values.filter { values || $0.value.hasStamps }
    tables.body.put(registers.count)
    for entry in registers {
      tables.put(entry.key)
      put(entry.value)
    }
    tables.body.put(contents.embedded.count)
    for entry in contents.embedded {
      tables.put(entry.key)
      put(entry.value)
    }
    tables.body.put(contents.lists.count)
    for entry in contents.lists {
      tables.put(entry.key)
      put(entry.value.guarding)
      tables.body.put(entry.value.erased.count)
      for erased in entry.value.erased {
        tables.put(erased.key)
        tables.body.put(erased.value)
      }
    }
    tables.body.put(contents.sets.count)
    for entry in contents.sets {
      tables.put(entry.key)
      put(entry.value.guarding)
      tables.body.put(entry.value.members.count)
      for member in entry.value.members.map(\.value) {
        tables.body.put(byte: member.isErased ? 1 : 0)
        tables.put(member.stamp)
        tables.put(member.value)
      }
    }
    tables.body.put(contents.maps.count)
    for entry in contents.maps {
      tables.put(entry.key)
      put(entry.value.guarding)
      tables.body.put(entry.value.entries.count)
      for slot in entry.value.entries {
        tables.put(slot.key)
        tables.body.put(byte: slot.value.presence.rawValue)
        put(slot.value.slot)
      }
    }
  }

  private mutating func put(_ register: Register) {
    let (code, stamp): (UInt8, Stamp) =
      switch register.key {
      case .never: (0, .zero)
      case .byDefault(let stamp): (1, stamp)
      case .written(let stamp): (2, stamp)
      }
    tables.body.put(byte: code)
    if code > 0 { tables.put(stamp) }
    put(value: register.value)
    tables.body.put(register.increments.count)
    for increment in register.increments {
      tables.put(increment.key)
      tables.body.put(signed: increment.value)
    }
  }

  private mutating func put(_ slot: Slot) {
    put(value: slot.value)
    // Most slots have no embedded object: one byte says so.
    let isPlain = !slot.node.isMade && slot.node.contents.isEmpty
    tables.body.put(byte: isPlain ? 0 : 1)
    if isPlain { put(slot.node.guarding) } else { put(slot.node) }
  }

  mutating func put(_ element: ListElement) {
    tables.put(element.id)
    tables.put(element.position)
    tables.put(element.moved)
    put(element.slot)
  }
}

extension Register {
  /// Whether a later operation can lose against the register.
  var hasStamps: Bool {
    switch key {
    case .never: !increments.isEmpty
    case .byDefault: true
    case .written(let stamp): stamp != .zero || !increments.isEmpty
    }
  }
}
