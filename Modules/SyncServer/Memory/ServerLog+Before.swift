import SyncModel
import SyncProtocol

/// The state of an object before an entry changed it.
///
/// It is kept as bytes, which are small beside what it takes to work with: for a handler that is behind there is one for each entry, and of
/// an object with a long list each has all of it.
package struct ObjectBefore: Hashable, Sendable {
  package let object: ObjectIdentity
  /// The encoded state; empty if the object was not known.
  fileprivate let bytes: [UInt8]

  /// - Parameter state: nil if the object was not known.
  package init(_ object: ObjectIdentity, _ state: ObjectState?) { self.init(object, bytes: state?.encoded() ?? []) }

  fileprivate init(_ object: ObjectIdentity, bytes: [UInt8]) { (self.object, self.bytes) = (object, bytes) }

  /// The state; nil if the object was not known. O(its size).
  package func state() throws(CodingError) -> ObjectState? { bytes.isEmpty ? nil : try ObjectState(decoding: bytes) }
}

// Event handlers see the store as of their cursor, wherever its head is by then. While a store has handlers, each transaction in its log
// stores the previous states of the objects it touched, and each purge those of the objects whose epochs it has forgotten.

extension ServerLog {
  package var keepsBefore: Bool { isHandled || !handlers.isEmpty }

  func before(_ objects: Set<ObjectIdentity>) -> [ObjectBefore] {
    objects.sorted().map { ObjectBefore($0, Merge.objectState(of: $0, in: state)) }
  }

  /// Forgets the previous states of entries that every handler has passed, of those after the place from which one has moved on. O(those
  /// entries).
  ///
  /// A change of an object with a long list stores all of it, so what is not needed any more must not wait until the log is truncated.
  ///
  /// A part of the log may not have all handlers: who stores it finds out himself how far they are (`TouchedLogRows.forgottenFrom`).
  mutating func forgetBefore(after passed: Seq) {
    touched.forgottenFrom = min(touched.forgottenFrom ?? passed, passed)
    let start = max(passed, base)
    for number in start.rawValue..<max(start, min(lowestCursor, head)).rawValue {
      log[Int(number - base.rawValue)].before = nil
    }
  }

  /// The states as of an entry, of all objects that a later entry touched, or whose epoch a later purge has forgotten. O(those objects).
  package func objects(asOf seq: Seq) throws(ServerStoreError) -> [ObjectIdentity: ObjectState?] {
    try checkStart(seq)
    var gatherer = BeforeGatherer()
    for entry in log.dropFirst(Int(min(seq, head).rawValue - base.rawValue)) { try gatherer.take(entry) }
    return gatherer.states
  }
}

/// Collects, for each object, its state before the first of some entries that touched it or forgot its epoch.
package struct BeforeGatherer {
  package private(set) var states: [ObjectIdentity: ObjectState?] = [:]

  package init() {}

  /// Adds the next entry, in the order of the log.
  package mutating func take(_ entry: ServerLog.Entry) throws(ServerStoreError) {
    if case .changeset = entry.body, entry.before == nil {
      throw ServerStoreError(.logTruncated, "What was before an entry was not kept: nobody handled the store's events then.")
    }
    for before in entry.before ?? [] where !states.keys.contains(before.object) {
      do throws(CodingError) { states.updateValue(try before.state(), forKey: before.object) } catch {
        throw ServerStoreError(
          .unavailable, "What \(before.object) was before an entry cannot be read: \(error.reason) at byte \(error.position).")
      }
    }
  }
}

extension ObjectBefore {
  /// Encodes a row.
  package static func encoded(_ all: [ObjectBefore]) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(all.count)
    for before in all {
      writer.put(ObjectIdentity.encode([before.object]))
      writer.put(before.bytes)
    }
    return writer.bytes
  }

  /// Decodes a row, but for the states. Safe for arbitrary bytes.
  package static func decode(_ row: [UInt8]) throws(CodingError) -> [ObjectBefore] {
    var reader = ByteReader(row)
    var all: [ObjectBefore] = []
    for _ in 0..<(try reader.count(of: 2)) {
      guard let object = try ObjectIdentity.decode(Array(try reader.content())).first else { throw reader.error(.value) }
      all.append(ObjectBefore(object, bytes: Array(try reader.content())))
    }
    try reader.end()
    return all
  }
}
