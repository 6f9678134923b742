#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues

/// Writes the records that a file keeps beside its objects. Its encoding is shorter than that of `RecordWriter`: names and replicas have
/// numbers for the whole file, and each stamp is a difference to the one before.
struct KeptWriter: CellWriter {
  var body = ByteWriter()
  let words: RecordWords
  private var last: Stamp?

  init(_ words: RecordWords) {
    self.words = words
    last = words.start
  }

  mutating func put(_ name: Name) {
    let code = words.code(of: name)
    body.put(code)
    if code == 0 { body.put(name.text.utf8) }
  }

  /// A name, with `count` bits beside its code.
  mutating func put(_ name: Name, bits: Int, of count: Int) {
    let code = words.code(of: name)
    body.put(code << count | bits)
    if code == 0 { body.put(name.text.utf8) }
  }

  mutating func put(_ replica: ReplicaID) {
    let code = words.code(of: replica)
    body.put(code)
    if code == 0 { body.put(fixed: replica.rawValue) }
  }

  /// 0 stands for `Stamp.zero`. A stamp with the replica and millisecond of the one before takes one byte, as does its difference within
  /// a run of operations.
  mutating func put(_ stamp: Stamp) {
    if stamp == .zero { return body.put(byte: 0) }
    let last = self.last ?? words.begin(at: stamp)
    let isSame = stamp.replica == last.replica
    let isNear = stamp.milliseconds == last.milliseconds
    let (new, old) = isNear ? (stamp.time & 0xFFFF, last.time & 0xFFFF) : (stamp.milliseconds, last.milliseconds)
    let difference = Int64(bitPattern: new &- old)
    let zigzag = UInt64(bitPattern: difference << 1 ^ difference >> 63)
    body.put((zigzag << 2 | (isSame ? 0 : 2) | (isNear ? 0 : 1)) &+ 1)
    if !isNear { body.put(stamp.time & 0xFFFF) }
    if !isSame { put(stamp.replica) }
    self.last = stamp
  }

  mutating func put(_ guarding: EpochGuard) {
    put(guarding.epoch)
    if guarding.epoch != .zero { body.put(guarding.seq) }
  }

  mutating func put(_ target: LinkTarget) {
    put(target.object.className)
    switch target.object.key {
    case .int(let x):
      body.put(byte: 0)
      body.put(signed: x)
    case .string(let x):
      body.put(byte: 1)
      body.put(x.text.utf8)
    case .uuid(let x):
      body.put(byte: 2)
      withUnsafeBytes(of: x.uuid) { body.put(raw: $0) }
    case .objectId(let x):
      body.put(byte: 3)
      body.put(raw: x.bytes)
    case .created(let replica, let key):
      body.put(byte: 4)
      put(replica)
      body.put(signed: key.rawValue)
    }
    put(target.epoch)
  }

  mutating func put(_ id: ElementID) {
    put(id.replica)
    body.put(id.number)
  }

  mutating func put(_ position: ListPosition) {
    body.put(position.steps.count)
    for step in position.steps {
      body.put(signed: step.gap)
      put(step.bunch)
      body.put(signed: step.offset)
    }
  }
}

/// The bits of the byte before a node.
struct NodeHead: OptionSet {
  let rawValue: UInt8

  static let isMade = NodeHead(rawValue: 1)
  static let isGuarded = NodeHead(rawValue: 2)
  /// For an object: the log has an entry for it.
  static let isLogged = NodeHead(rawValue: 4)
  /// For an object: its deletion is pending, and `beneath` follows.
  static let isPending = NodeHead(rawValue: 8)
  static let embeds = NodeHead(rawValue: 16)
  static let hasLists = NodeHead(rawValue: 32)
  static let hasSets = NodeHead(rawValue: 64)
  static let hasMaps = NodeHead(rawValue: 128)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ node: Node) {
    var head: NodeHead = []
    if node.isMade { head.insert(.isMade) }
    if node.guarding.epoch != .zero { head.insert(.isGuarded) }
    if !node.contents.embedded.isEmpty { head.insert(.embeds) }
    if !node.contents.lists.isEmpty { head.insert(.hasLists) }
    if !node.contents.sets.isEmpty { head.insert(.hasSets) }
    if !node.contents.maps.isEmpty { head.insert(.hasMaps) }
    self = head
  }
}

extension KeptWriter {
  mutating func put(_ record: ObjectRecord) {
    var head = NodeHead(record.node)
    if record.lastSeq != .zero { head.insert(.isLogged) }
    if record.node.guarding.seq == .pending { head.insert(.isPending) }
    body.put(byte: head.rawValue)
    if head.contains(.isLogged) { body.put(record.lastSeq) }
    if head.contains(.isGuarded) { put(record.node.guarding) }
    if head.contains(.isPending) { put(record.beneath) }
    put(record.node.contents)
  }

  mutating func put(_ node: Node) {
    let head = NodeHead(node)
    body.put(byte: head.rawValue)
    if head.contains(.isGuarded) { put(node.guarding) }
    put(node.contents)
  }

  private mutating func put(_ contents: Contents) {
    body.put(contents.values.count)
    for entry in contents.values { put(entry.value, of: entry.key) }
    if !contents.embedded.isEmpty {
      body.put(contents.embedded.count)
      for entry in contents.embedded {
        put(entry.key)
        put(entry.value)
      }
    }
    if !contents.lists.isEmpty {
      body.put(contents.lists.count)
      for entry in contents.lists { put(entry.value, of: entry.key) }
    }
    if !contents.sets.isEmpty {
      body.put(contents.sets.count)
      for entry in contents.sets { put(entry.value, of: entry.key) }
    }
    if !contents.maps.isEmpty {
      body.put(contents.maps.count)
      for entry in contents.maps { put(entry.value, of: entry.key) }
    }
  }

  private mutating func put(_ register: Register, of name: Name) {
    let hasIncrements = register.increments.isEmpty ? 0 : 4
    switch register.key {
    case .never: put(name, bits: hasIncrements, of: 3)
    case .byDefault(let stamp):
      put(name, bits: 1 | hasIncrements, of: 3)
      put(stamp)
    case .written(let stamp):
      put(name, bits: (stamp == .zero ? 3 : 2) | hasIncrements, of: 3)
      if stamp != .zero { put(stamp) }
    }
    put(register.value)
    if hasIncrements == 0 { return }
    body.put(register.increments.count)
    for increment in register.increments {
      put(increment.key)
      body.put(signed: increment.value)
    }
  }

  private mutating func put(_ list: ListHead, of name: Name) {
    put(name, bits: list.erased.isEmpty ? 0 : 1, of: 1)
    put(list.guarding)
    if list.erased.isEmpty { return }
    body.put(list.erased.count)
    for erased in list.erased {
      put(erased.key)
      body.put(erased.value)
    }
  }

  private mutating func put(_ set: MemberSet, of name: Name) {
    put(name)
    put(set.guarding)
    body.put(set.members.count)
    for member in set.members.map(\.value) {
      body.put(byte: member.isErased ? 1 : 0)
      put(member.stamp)
      put(member.value)
    }
  }

  private mutating func put(_ map: EntryMap, of name: Name) {
    put(name)
    put(map.guarding)
    body.put(map.entries.count)
    for slot in map.entries {
      body.put(slot.key.text.utf8)
      body.put(byte: slot.value.presence.rawValue)
      put(slot.value.slot)
    }
  }

  private mutating func put(_ slot: Slot) {
    // Most slots have no embedded object: one byte says so.
    let isPlain = !slot.node.isMade && slot.node.contents.isEmpty
    body.put(byte: isPlain ? 0 : 1)
    if isPlain { put(slot.node.guarding) } else { put(slot.node) }
    put(slot.value)
  }

  mutating func put(_ element: ListElement) {
    put(element.id)
    put(element.position)
    put(element.moved)
    put(element.slot)
  }
}
