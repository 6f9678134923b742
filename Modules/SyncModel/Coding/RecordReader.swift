import StoreValues

struct RecordReader {
  var tables: TableReader
  let values: Bool

  init(_ bytes: [UInt8]) throws(CodingError) {
    var reader = ByteReader(bytes)
    let format = try reader.byte()
    guard format == ObjectRecord.format else { throw CodingError(.format(format), at: 0) }
    let flags = try reader.byte()
    guard flags <= 1 else { throw CodingError(.code(flags), at: 1) }
    values = flags == 1
    tables = try TableReader(reader, base: 0)
  }

  mutating func guarding() throws(CodingError) -> EpochGuard {
    let epoch = try tables.stamp()
    return epoch == .zero ? EpochGuard() : EpochGuard(epoch: epoch, seq: try tables.body.seq())
  }

  private mutating func flag() throws(CodingError) -> Bool {
    let start = tables.body.position
    let byte = try tables.body.byte()
    guard byte <= 1 else { throw CodingError(.code(byte), at: start) }
    return byte == 1
  }

  private mutating func value() throws(CodingError) -> CellValue { values ? try tables.value() : .null }

  /// - Parameter depth: the number of enclosing embedded objects.
  mutating func node(depth: Int) throws(CodingError) -> Node {
    guard depth <= Operation.depthMax else { throw tables.body.error(.depth) }
    let isMade = try flag()
    let guarding = try guarding()
    return Node(guarding: guarding, isMade: isMade, contents: try contents(depth: depth))
  }

  private mutating func contents(depth: Int) throws(CodingError) -> Contents {
    var contents = Contents()
    for _ in 0..<(try tables.body.count(of: 3)) {
      let name = try name(after: contents.values.last?.key)
      contents.values[name] = try register()
    }
    for _ in 0..<(try tables.body.count(of: 3)) {
      let name = try name(after: contents.embedded.last?.key)
      contents.embedded[name] = try node(depth: depth + 1)
    }
    for _ in 0..<(try tables.body.count(of: 3)) {
      let name = try name(after: contents.lists.last?.key)
      var head = ListHead()
      head.guarding = try guarding()
      for _ in 0..<(try tables.body.count(of: 3)) {
        let id = try ascending(try tables.elementID(), after: head.erased.last?.key)
        head.erased[id] = try tables.body.seq()
      }
      contents.lists[name] = head
    }
    for _ in 0..<(try tables.body.count(of: 3)) {
      let name = try name(after: contents.sets.last?.key)
      contents.sets[name] = try set()
    }
    for _ in 0..<(try tables.body.count(of: 3)) {
      let name = try name(after: contents.maps.last?.key)
      var map = EntryMap()
      map.guarding = try guarding()
      for _ in 0..<(try tables.body.count(of: 3)) {
        let key = try self.name(after: map.entries.last?.key)
        let start = tables.body.position
        let code = try tables.body.byte()
        guard let presence = EntryMap.Presence(rawValue: code) else { throw CodingError(.code(code), at: start) }
        map.entries[key] = EntryMap.Entry(slot: try slot(depth: depth + 1), presence: presence)
      }
      contents.maps[name] = map
    }
    return contents
  }

  private mutating func name(after last: Name?) throws(CodingError) -> Name { try ascending(try tables.name(), after: last) }

  /// Tables are written in ascending order of keys. Any other order would be a second form of one value, and cost O(n²) to read.
  private func ascending<T: Comparable>(_ key: T, after last: T?) throws(CodingError) -> T {
    if let last, !(last < key) { throw tables.body.error(.order) }
    return key
  }

  private mutating func register() throws(CodingError) -> Register {
    let start = tables.body.position
    let key: Register.Key
    switch try tables.body.byte() {
    case 0: key = .never
    case 1: key = .byDefault(try tables.stamp())
    case 2: key = .written(try tables.stamp())
    case let code: throw CodingError(.code(code), at: start)
    }
    var register = Register(key: key, value: try value())
    for _ in 0..<(try tables.body.count(of: 2)) {
      let stamp = try ascending(try tables.stamp(), after: register.increments.last?.key)
      guard register.counts(stamp) else { throw tables.body.error(.value) }
      register.increments[stamp] = try tables.body.signed()
    }
    return register
  }

  private mutating func set() throws(CodingError) -> MemberSet {
    var set = MemberSet()
    set.guarding = try guarding()
    for _ in 0..<(try tables.body.count(of: 3)) {
      let isErased = try flag()
      let stamp = try tables.stamp()
      let value = try tables.value()
      let key = try ascending(value.memberKey, after: set.members.last?.key)
      set.members[key] = MemberSet.Member(value: value, stamp: stamp, isErased: isErased)
    }
    return set
  }

  private mutating func slot(depth: Int) throws(CodingError) -> Slot {
    let value = try value()
    if try flag() { return Slot(node: try node(depth: depth), value: value) }
    return Slot(node: Node(guarding: try guarding()), value: value)
  }

  mutating func elements() throws(CodingError) -> [ListElement] {
    var elements: [ListElement] = []
    for _ in 0..<(try tables.body.count(of: 5)) {
      let id = try tables.elementID()
      let position = try tables.position()
      let moved = try tables.stamp()
      let element = ListElement(id: id, position: position, moved: moved, slot: try slot(depth: 1))
      elements.append(try ascending(element, after: elements.last))
    }
    return elements
  }
}
