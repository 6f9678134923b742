#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues

/// Reads the tables that `TableWriter` wrote, then resolves references in the body.
struct TableReader: CellReader {
  var body: ByteReader
  private var texts: [Name] = []
  private var replicas: [ReplicaID] = []
  private var stamps: [Stamp] = []
  private var targets: [LinkTarget] = []

  /// - Parameters:
  ///   - reader: positioned at the tables.
  ///   - base: the same as for `TableWriter.finished`.
  ///   - author: the author of a changeset.
  init(_ reader: ByteReader, base: UInt64, author: ReplicaID? = nil) throws(CodingError) {
    body = reader
    if let author { replicas.append(author) }
    for _ in 0..<(try body.count(of: 1)) { texts.append(Name(try body.text())) }
    for _ in 0..<(try body.count(of: 8)) { replicas.append(ReplicaID(try body.fixed(UInt64.self))) }
    var time = base
    for _ in 0..<(try body.count(of: 2)) {
      let start = body.position
      let replica = try replica()
      time = time &+ UInt64(bitPattern: try body.signed())
      let stamp = Stamp(time: time, replica: replica)
      guard stamp != .zero else { throw CodingError(.value, at: start) }  // reference 0 stands for it, so it is in no table
      stamps.append(stamp)
    }
    for _ in 0..<(try body.count(of: 4)) { targets.append(try readTarget()) }
  }

  private mutating func pick<T>(_ table: [T]) throws(CodingError) -> T {
    let start = body.position
    let place = try body.number()
    guard place < UInt64(table.count) else { throw CodingError(.reference, at: start) }
    return table[Int(place)]
  }

  mutating func name() throws(CodingError) -> Name { try pick(texts) }
  mutating func replica() throws(CodingError) -> ReplicaID { try pick(replicas) }
  mutating func target() throws(CodingError) -> LinkTarget { try pick(targets) }

  mutating func stamp() throws(CodingError) -> Stamp {
    let start = body.position
    let place = try body.number()
    if place == 0 { return .zero }
    guard place <= UInt64(stamps.count) else { throw CodingError(.reference, at: start) }
    return stamps[Int(place - 1)]
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

  private mutating func readTarget() throws(CodingError) -> LinkTarget {
    let className = try name()
    let start = body.position
    let key: ObjectIdentity.Key
    switch try body.byte() {
    case 0: key = .int(try body.signed())
    case 1: key = .string(try name())
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
}
