import StorageForwarding
import StorageInterface
import StoreValues
import Synchronization

/// What some writes have read. Any thread.
public final class ReadCounts: Sendable {
  private let elementCount = Atomic(0)
  private let otherCount = Atomic(0)
  private let sourceCount = Atomic(0)

  public init() {}

  /// The elements of collections.
  public var elements: Int { elementCount.load(ordering: .relaxed) }
  /// Values, elements and backlinks.
  public var all: Int { elements + otherCount.load(ordering: .relaxed) }

  /// How often backlinks were asked for.
  public var questions: Int { sourceCount.load(ordering: .relaxed) }

  fileprivate func addQuestion() { sourceCount.add(1, ordering: .relaxed) }
  fileprivate func add(elements: Int) { elementCount.add(elements, ordering: .relaxed) }
  fileprivate func add(_ others: Int) { otherCount.add(others, ordering: .relaxed) }
}

/// Counts the values, elements and backlinks that a write reads.
public final class CountingWrite: ForwardingWrite {
  public let base: any WriteTransaction
  private let reads: ReadCounts

  public init(base: any WriteTransaction, _ reads: ReadCounts) { (self.base, self.reads) = (base, reads) }

  /// None that reads what is counted.
  public var powers: StoragePowers { StoragePowers(targets: base.powers.targets) }

  public func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? {
    reads.add(1)
    return try base.word(column, key)
  }

  public func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try base.elements(column, owner, range) { batch in
      reads.add(elements: batch.count)
      return body(batch)
    }
  }

  public func sources(
    of target: ObjectKey, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    reads.addQuestion()
    try base.sources(of: target, through: column) { keys in
      reads.add(keys.count)
      return body(keys)
    }
  }
  public func sources(
    of target: ObjectLink, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    reads.addQuestion()
    try base.sources(of: target, through: column, body)
  }
}
