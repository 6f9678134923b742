import Synchronization

/// The numbers that identify, in commits, the store that made them; see `CommitRecord.origin`.
enum StoreOrigin {
  /// Random, one for each process.
  private static let process = UInt64(UInt32.random(in: 1...UInt32.max)) << 32
  private static let count = Atomic<UInt32>(0)

  /// The origin of commits that integrate writes of other replicas. No process has it: their numbers exceed 32 bits.
  static let remote: UInt64 = 1

  /// A new number for a store of this process. Any thread.
  static func next() -> UInt64 { process | UInt64(count.wrappingAdd(1, ordering: .relaxed).newValue) }

  /// Whether a store of this process has, or had, the number. Any thread.
  static func isOfThisProcess(_ origin: UInt64) -> Bool { origin & ~UInt64(UInt32.max) == process }
}
