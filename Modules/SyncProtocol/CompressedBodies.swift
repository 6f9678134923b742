import Synchronization

/// The compressed forms of the last bodies, for those who send the same to many: what a thousand sessions are sent is compressed once.
///
/// Bounded (`entriesMax`, `bytesMax`). **Threads.** Any. **Cost.** Comparing a body with those of its length.
package final class CompressedBodies: Sendable {
  fileprivate struct Entry {
    let body: [UInt8]
    /// nil: zlib failed.
    let packed: [UInt8]?
  }

  fileprivate struct State {
    /// The one that was asked for last is the first.
    var entries: [Entry] = []
    var made = 0
  }

  private static let entriesMax = 16
  /// The bytes of the longest body that is kept.
  private static let bytesMax = 64 << 10

  private let state = Mutex(State())

  /// Creates an empty memory.
  package init() {}

  /// How many bodies were compressed. For tests.
  package var madeCount: Int { state.withLock { $0.made } }

  /// The compressed form of a body; nil if zlib fails.
  func deflated(_ body: [UInt8]) -> [UInt8]? {
    if let known = state.withLock({ $0.found(body) }) { return known.packed }
    // Two threads may do it at once: rather that than have one wait for the other.
    let packed = Compression.deflated(body)
    state.withLock { state in
      state.made += 1
      if body.count > CompressedBodies.bytesMax || state.found(body) != nil { return }
      if state.entries.count >= CompressedBodies.entriesMax { state.entries.removeLast() }
      state.entries.insert(Entry(body: body, packed: packed), at: 0)
    }
    return packed
  }
}

extension CompressedBodies.State {
  /// The entry of a body, which becomes the first.
  fileprivate mutating func found(_ body: [UInt8]) -> CompressedBodies.Entry? {
    guard let place = entries.firstIndex(where: { $0.body == body }) else { return nil }
    if place > 0 { entries.insert(entries.remove(at: place), at: 0) }
    return entries[0]
  }
}
