import StoreValues

/// Reads what `KeptWriter` wrote.
struct KeptReader: CellReader {
  var body: ByteReader
  let words: RecordWords
  private var last: Stamp

  init(_ bytes: [UInt8], _ words: RecordWords) {
    body = ByteReader(bytes)
    self.words = words
    last = words.start ?? .zero
  }

  mutating func text() throws(CodingError) -> Name { Name(try body.text()) }

  mutating func name(_ code: UInt64, at start: Int) throws(CodingError) -> Name {
    if code == 0 { return try text() }
    guard let name = words.name(code) else { throw CodingError(.reference, at: start) }
    return name
  }

  mutating func name() throws(CodingError) -> Name {
    let start = body.position
    return try name(try body.number(), at: start)
  }

  mutating func name(bits count: UInt64) throws(CodingError) -> (Name, bits: UInt64) {
    let start = body.position
    let code = try body.number()
    return (try name(code >> count, at: start), code & ((1 << count) - 1))
  }

  mutating func replica() throws(CodingError) -> ReplicaID {
    let start = body.position
    let code = try body.number()
    if code == 0 { return ReplicaID(try body.fixed(UInt64.self)) }
    guard let replica = words.replica(code) else { throw CodingError(.reference, at: start) }
    return replica
  }

  mutating func stamp() throws(CodingError) -> Stamp {
    let start = body.position
    let code = try body.number()
    if code == 0 { return .zero }
    let bits = (code - 1) & 3
    let zigzag = (code - 1) >> 2
    let difference = UInt64(bitPattern: Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1))
    let time: UInt64
    if bits & 1 == 0 {
      time = last.milliseconds << 16 | (last.time & 0xFFFF) &+ difference
    } else {
      let counter = try body.number()
      guard counter <= 0xFFFF else { throw CodingError(.value, at: start) }
      time = (last.milliseconds &+ difference) << 16 | counter
    }
    last = Stamp(time: time, replica: bits & 2 == 0 ? last.replica : try replica())
    guard last != .zero else { throw CodingError(.value, at: start) }
    return last
  }

  mutating func guarding() throws(CodingError) -> EpochGuard {
    let epoch = try stamp()
    return epoch == .zero ? EpochGuard() : EpochGuard(epoch: epoch, seq: try body.seq())
  }

  mutating func target() throws(CodingError) -> LinkTarget {
    let className = try name()
    let start = body.position
    let key: ObjectIdentity.Key
    switch try body.byte() {
    case 0: key = .int(try body.signed())
    case 1: key = .string(try text())
    case 2:
      guard case .uuid(let id) = try plain(16, .uuid) else { throw CodingError(.value, at: start) }
      key = .uuid(id)
    case 3:
      guard case .objectId(let id) = try plain(12, .objectId) else { throw CodingError(.value, at: start) }
      key = .objectId(id)
    case 4:
      let replica = try replica()
      key = .created(replica, ObjectKey(try body.signed()))
    case let code: throw CodingError(.code(code), at: start)
    }
    return LinkTarget(ObjectIdentity(className, key), epoch: try stamp())
  }

  mutating func elementID() throws(CodingError) -> ElementID {
    let replica = try replica()
    return ElementID(replica, try body.number())
  }

  mutating func position() throws(CodingError) -> ListPosition {
    let count = try body.count(of: 3)
    if count == 0 { return .none }
    var steps: [ListPosition.Step] = []
    for _ in 0..<count {
      let gap = try body.signed()
      let bunch = try stamp()
      steps.append(ListPosition.Step(gap: gap, bunch: bunch, offset: try body.signed()))
    }
    return ListPosition(steps)
  }

  func ascending<T: Comparable>(_ key: T, after last: T?) throws(CodingError) -> T {
    if let last, !(last < key) { throw body.error(.order) }
    return key
  }
}

extension KeptReader {
  mutating func record() throws(CodingError) -> ObjectRecord {
    let head = NodeHead(rawValue: try body.byte())
    let seq = head.contains(.isLogged) ? try body.seq() : .zero
    let guarding = head.contains(.isGuarded) ? try guarding() : EpochGuard()
    let beneath = head.contains(.isPending) ? try self.guarding() : EpochGuard()
    let node = Node(guarding: guarding, isMade: head.contains(.isMade), contents: try contents(head, depth: 0))
    var record = ObjectRecord(node: node, lastSeq: seq)
    record.beneath = beneath
    return record
  }

  private mutating func node(depth: Int) throws(CodingError) -> Node {
    guard depth <= Operation.depthMax else { throw body.error(.depth) }
    let head = NodeHead(rawValue: try body.byte())
    guard head.isDisjoint(with: [.isLogged, .isPending]) else { throw body.error(.code(head.rawValue)) }
    let guarding = head.contains(.isGuarded) ? try guarding() : EpochGuard()
    return Node(guarding: guarding, isMade: head.contains(.isMade), contents: try contents(head, depth: depth))
  }

  private mutating func contents(_ head: NodeHead, depth: Int) throws(CodingError) -> Contents {
    var contents = Contents()
    for _ in 0..<(try body.count(of: 2)) {
      let (name, bits) = try name(bits: 3)
      contents.values.append(try ascending(name, after: contents.values.last?.key), try register(bits))
    }
    if head.contains(.embeds) {
      for _ in 0..<(try body.count(of: 3)) {
        let name = try ascending(try name(), after: contents.embedded.last?.key)
        contents.embedded.append(name, try node(depth: depth + 1))
      }
    }
    if head.contains(.hasLists) {
      for _ in 0..<(try body.count(of: 2)) {
        let (name, bits) = try name(bits: 1)
        contents.lists.append(try ascending(name, after: contents.lists.last?.key), try list(hasErased: bits == 1))
      }
    }
    if head.contains(.hasSets) {
      for _ in 0..<(try body.count(of: 3)) {
        let name = try ascending(try name(), after: contents.sets.last?.key)
        contents.sets.append(name, try set())
      }
    }
    if head.contains(.hasMaps) {
      for _ in 0..<(try body.count(of: 3)) {
        let name = try ascending(try name(), after: contents.maps.last?.key)
        contents.maps.append(name, try map(depth: depth))
      }
    }
    return contents
  }

  private mutating func register(_ bits: UInt64) throws(CodingError) -> Register {
    let key: Register.Key
    switch bits & 3 {
    case 0: key = .never
    case 1: key = .byDefault(try stamp())
    case 2: key = .written(try stamp())
    default: key = .written(.zero)
    }
    var register = Register(key: key, value: try value())
    if bits & 4 == 0 { return register }
    for _ in 0..<(try body.count(of: 2)) {
      let stamp = try ascending(try stamp(), after: register.increments.last?.key)
      guard register.counts(stamp) else { throw body.error(.value) }
      register.increments.append(stamp, try body.signed())
    }
    return register
  }

  private mutating func list(hasErased: Bool) throws(CodingError) -> ListHead {
    var head = ListHead()
    head.guarding = try guarding()
    if !hasErased { return head }
    for _ in 0..<(try body.count(of: 3)) {
      let id = try ascending(try elementID(), after: head.erased.last?.key)
      head.erased.append(id, try body.seq())
    }
    return head
  }

  private mutating func set() throws(CodingError) -> MemberSet {
    var set = MemberSet()
    set.guarding = try guarding()
    for _ in 0..<(try body.count(of: 3)) {
      let code = try body.byte()
      guard code <= 1 else { throw body.error(.code(code)) }
      let stamp = try stamp()
      let value = try value()
      let key = try ascending(value.memberKey, after: set.members.last?.key)
      set.members.append(key, MemberSet.Member(value: value, stamp: stamp, isErased: code == 1))
    }
    return set
  }

  private mutating func map(depth: Int) throws(CodingError) -> EntryMap {
    var map = EntryMap()
    map.guarding = try guarding()
    for _ in 0..<(try body.count(of: 4)) {
      let key = try ascending(try text(), after: map.entries.last?.key)
      let code = try body.byte()
      guard let presence = EntryMap.Presence(rawValue: code) else { throw body.error(.code(code)) }
      map.entries.append(key, EntryMap.Entry(slot: try slot(depth: depth + 1), presence: presence))
    }
    return map
  }

  private mutating func slot(depth: Int) throws(CodingError) -> Slot {
    let code = try body.byte()
    guard code <= 1 else { throw body.error(.code(code)) }
    let node = code == 1 ? try node(depth: depth) : Node(guarding: try guarding())
    return Slot(node: node, value: try value())
  }

  mutating func elements() throws(CodingError) -> [ListElement] {
    var elements: [ListElement] = []
    for _ in 0..<(try body.count(of: 6)) {
      let id = try elementID()
      let position = try position()
      let moved = try stamp()
      let element = ListElement(id: id, position: position, moved: moved, slot: try slot(depth: 1))
      elements.append(try ascending(element, after: elements.last))
    }
    return elements
  }
}
