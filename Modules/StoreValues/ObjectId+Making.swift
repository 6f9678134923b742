import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ObjectId {
  /// A new id with the current time in seconds. Unique: within a process the counter distinguishes 16 million ids per second,
  /// between processes 40 random bits do. From any thread.
  public init() { self.init(timestamp: Date()) }

  /// A new id with the given time in seconds; times outside 1970 to 2106 are clamped.
  public init(timestamp: Date) {
    let seconds = min(max(timestamp.timeIntervalSince1970, 0), Double(UInt32.max))
    let count = ObjectId.counter.wrappingAdd(1, ordering: .relaxed).newValue & 0xFF_FFFF
    // 4 bytes of seconds, 5 bytes of process, 3 bytes of counter.
    self.init(
      high: UInt64(UInt32(seconds)) << 32 | ObjectId.process >> 8,
      low: UInt32(truncatingIfNeeded: ObjectId.process & 0xFF) << 24 | count)
  }

  /// The time it was made, in seconds.
  public var timestamp: Date { Date(timeIntervalSince1970: Double(seconds)) }

  /// 40 random bits.
  private static let process = UInt64.random(in: 0..<1 << 40)
  private static let counter = Atomic<UInt32>(UInt32.random(in: 0..<1 << 24))
}
