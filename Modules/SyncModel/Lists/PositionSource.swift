/// Makes the positions for the inserts and moves of one transaction.
///
/// Each transaction needs a new source: it may extend only its own runs, because another replica may be extending older ones.
public struct PositionSource: Sendable {
  /// The first and the last offset of each bunch that this transaction opened.
  private var runs: [Stamp: ClosedRange<Int64>] = [:]

  /// The distance between two bunches opened at neighbouring places. It allows 10 halvings before a level is added.
  static let stride: Int64 = 1024

  /// Creates a source for a transaction that has inserted and moved nothing yet.
  public init() {}

  /// A position between two neighbours.
  ///
  /// The neighbours are those that the author sees; erased elements need not be known. Authors who insert between the same two neighbours
  /// choose the same gap, so the stamps of their bunches decide: the earlier stands first.
  ///
  /// - Parameters:
  ///   - left: the position of the element before; nil at the beginning.
  ///   - right: the position of the element after; nil at the end.
  ///   - stamp: the stamp of the insert or move. It is later than everything the author saw (`HybridClock`), so a bunch named by it sorts
  ///     after every bunch of the same gap.
  /// - Returns: a position strictly between the two, if they are in order and no forged position has used the numbers up; otherwise a
  ///   position near them. O(depth).
  public mutating func position(after left: ListPosition?, before right: ListPosition?, stamp: Stamp) -> ListPosition {
    if let next = continued(left, by: 1), right.map({ next < $0 }) ?? true { return extend(next) }
    if let next = continued(right, by: -1), left.map({ $0 < next }) ?? true { return extend(next) }
    runs[stamp] = 0...0
    return PositionSource.opening(stamp, after: left?.steps ?? [], before: right?.steps ?? [])
  }

  /// The next place of a run of this transaction, if the position is at the end of one.
  private func continued(_ position: ListPosition?, by step: Int64) -> ListPosition? {
    guard let position, let last = position.steps.last, let run = runs[last.bunch],
      last.offset == (step > 0 ? run.upperBound : run.lowerBound)
    else { return nil }
    let next = ListPosition.Step(gap: last.gap, bunch: last.bunch, offset: last.offset &+ step)
    return ListPosition(position.steps.dropLast() + [next])
  }

  private mutating func extend(_ position: ListPosition) -> ListPosition {
    guard let last = position.steps.last, let run = runs[last.bunch] else { return position }
    runs[last.bunch] = min(run.lowerBound, last.offset)...max(run.upperBound, last.offset)
    return position
  }

  private static func opening(_ bunch: Stamp, after left: [ListPosition.Step], before right: [ListPosition.Step]) -> ListPosition {
    func step(_ gap: Int64) -> ListPosition.Step { ListPosition.Step(gap: gap, bunch: bunch) }
    guard let first = left.first else {
      return ListPosition([step(right.first.map { lower($0.gap) } ?? 0)])
    }
    // At the end: the gap of the last element, where the newest bunch sorts last. So appends are ordered by time.
    guard !right.isEmpty else { return ListPosition([step(first.gap)]) }
    var common = 0
    while common < left.count, common < right.count, left[common] == right[common] { common += 1 }
    guard common < right.count else { return ListPosition([step(first.gap)]) }  // not in order: sort after both
    let next = right[common].gap
    guard common < left.count else { return ListPosition(left + [step(lower(next))]) }  // right is below left
    let here = left[common].gap
    let shared = left[..<common]
    if here < next {
      // `here < next`, so the difference is not negative and fits the unsigned word.
      let room = UInt64(bitPattern: next &- here)
      return ListPosition(shared + [step(here &+ Int64(bitPattern: room / 2))])  // if room is 1: the gap of left, after it by stamp
    }
    // Both are in one gap: go one level below left, after what is there.
    if left.count > common + 1 { return ListPosition(left[...common] + [step(left[common + 1].gap)]) }
    return ListPosition(left + [step(0)])
  }

  /// A gap in front. Only a forged gap near the lowest number makes it saturate; the bunch's stamp then decides.
  private static func lower(_ gap: Int64) -> Int64 {
    let (result, isOver) = gap.subtractingReportingOverflow(stride)
    return isOver ? .min : result
  }
}
