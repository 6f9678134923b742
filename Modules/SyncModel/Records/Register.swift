/// A property's value: the last writer wins, and increments that are later than the write are added to it.
///
/// The write with the highest key stays. Increments are kept one by one, because a write that has not arrived yet may be
/// later than some and earlier than others; `Merge.purge` folds those that no write to come can be earlier than.
public struct Register: Hashable, Sendable {
  /// Orders writes. The derived order is by case first: what is written by intent beats every default.
  public enum Key: Hashable, Comparable, Sendable {
    /// Never written: null, or zero for increments.
    case never
    case byDefault(Stamp)
    case written(Stamp)
  }

  /// Of the write that the value comes from.
  public internal(set) var key: Key
  /// Without the increments.
  public internal(set) var value: CellValue
  /// Later than the write, each by the stamp of its operation, so that one counts once.
  public internal(set) var increments: SortedTable<Stamp, Int64>

  /// A register of its parts; by default one that was never written. The increments must be later than the write.
  public init(key: Key = .never, value: CellValue = .null, increments: SortedTable<Stamp, Int64> = SortedTable()) {
    self.key = key
    self.value = value
    self.increments = increments
  }

  /// Whether an increment is later than the write. One that is not never will be, since keys only grow: it is not kept.
  func counts(_ stamp: Stamp) -> Bool { .written(stamp) > key }

  mutating func write(_ new: CellValue, _ higher: Key) {
    key = higher
    value = new
    increments.keep { stamp, _ in .written(stamp) > higher }
  }

  /// The value to show: the written one and what was added later. Sums wrap. Increments of what is no integer do nothing.
  public var visible: CellValue {
    if increments.isEmpty { return value }
    guard let base = value.integer ?? (key == .never ? 0 : nil) else { return value }
    return .int(increments.reduce(base) { $0 &+ $1.value })
  }

  /// Adds up what no write to come can be earlier than, and forgets stamps to which none can lose.
  mutating func settle(_ floor: Stamp) {
    var folded: Int64?
    increments.keep { stamp, delta in
      guard stamp <= floor else { return true }
      folded = (folded ?? 0) &+ delta
      return false
    }
    if let folded, let base = value.integer ?? (key == .never ? 0 : nil) { value = .int(base &+ folded) }
    switch key {
    case .never: break
    case .byDefault(let stamp): if stamp <= floor { key = .byDefault(.zero) }
    case .written(let stamp): if stamp <= floor { key = .written(.zero) }
    }
  }
}
