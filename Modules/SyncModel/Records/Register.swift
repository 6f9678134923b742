/// A property's value: the last writer wins, and increments later than the write are added to it.
///
/// The write with the highest key stays. Increments are kept one by one, because a write that has not arrived yet may be later than some
/// of them and earlier than others. `Merge.purge` folds those that every write to come is later than.
public struct Register: Hashable, Sendable {
  /// Orders writes. The derived order compares cases first: a value that somebody set beats every default.
  public enum Key: Hashable, Comparable, Sendable {
    /// Never written: null, or zero for increments.
    case never
    case byDefault(Stamp)
    case written(Stamp)
  }

  /// The key of the write that the value comes from.
  public internal(set) var key: Key
  /// The value without the increments.
  public internal(set) var value: CellValue
  /// The increments later than the write, by the stamp of their operation, so that each counts once.
  public internal(set) var increments: SortedTable<Stamp, Int64>

  /// Creates a register; by default one that was never written. The increments must be later than the write.
  public init(key: Key = .never, value: CellValue = .null, increments: SortedTable<Stamp, Int64> = SortedTable()) {
    self.key = key
    self.value = value
    self.increments = increments
  }

  /// Whether an increment is later than the write. One that is not is dropped: keys only grow, so it never will be.
  func counts(_ stamp: Stamp) -> Bool { .written(stamp) > key }

  mutating func write(_ new: CellValue, _ higher: Key) {
    key = higher
    value = new
    increments.keep { stamp, _ in .written(stamp) > higher }
  }

  /// The value to show: the written value plus later increments. Sums wrap. Increments of a value that is not an integer have no effect.
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
