import Synchronization

/// The numbers by which commits name the store that made them: see `CommitRecord.origin`.
enum StoreOrigin {
  /// Drawn by each process.
  private static let process = UInt64(UInt32.random(in: 1...UInt32.max)) << 32
  private static let count = Atomic<UInt32>(0)

  /// Of commits that brought in what other replicas of the store wrote. No process has it: theirs begin above 32 bits.
  static let remote: UInt64 = 1

  /// The number of another store of this process. Any thread.
  static func next() -> UInt64 { process | UInt64(count.wrappingAdd(1, ordering: .relaxed).newValue) }

  /// Whether a store of this process has, or had, the number. Any thread.
  static func isOfThisProcess(_ origin: UInt64) -> Bool { origin & ~UInt64(UInt32.max) == process }
}
