import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension ObjectId {
  /// A new one, of this second. No two are the same: within a process the counter tells 16 million of one second
  /// apart, between processes 40 random bits do. From any thread.
  public init() { self.init(timestamp: Date()) }

  /// A new one whose time is the given one, to the second; times outside 1970 to 2106 count as the nearest.
  public init(timestamp: Date) {
    let seconds = min(max(timestamp.timeIntervalSince1970, 0), Double(UInt32.max))
    let count = ObjectId.counter.wrappingAdd(1, ordering: .relaxed).newValue & 0xFF_FFFF
    // 4 bytes of seconds, 5 of the process, 3 of the counter.
    self.init(
      high: UInt64(UInt32(seconds)) << 32 | ObjectId.process >> 8,
      low: UInt32(truncatingIfNeeded: ObjectId.process & 0xFF) << 24 | count)
  }

  /// When it was made, to the second.
  public var timestamp: Date { Date(timeIntervalSince1970: Double(seconds)) }

  /// 40 random bits.
  private static let process = UInt64.random(in: 0..<1 << 40)
  private static let counter = Atomic<UInt32>(UInt32.random(in: 0..<1 << 24))
}
