import Foundation

extension LiveList where Element: PersistableElement {
  /// Takes out the elements at these positions, as a list in an interface asks (`onDelete`). Positions outside are left out; objects
  /// stay in the store.
  public nonmutating func remove(atOffsets offsets: IndexSet) {
    let count = count
    for position in offsets.reversed() where position >= 0 && position < count { remove(at: position) }
  }

  /// Moves the elements at some positions, in their order, in front of the one that is at `destination` now (`onMove`); `count` is the
  /// end. Positions outside are left out.
  public nonmutating func move(fromOffsets source: IndexSet, toOffset destination: Int) {
    let count = count
    let destination = Swift.min(Swift.max(0, destination), count)
    let moved = source.filter { $0 >= 0 && $0 < count }
    // Those before the place go up, and each makes the next stand one lower; those behind it come down, and disturb none behind them.
    for (number, position) in moved.filter({ $0 < destination }).enumerated() { move(from: position - number, to: destination - 1) }
    for (number, position) in moved.filter({ $0 >= destination }).enumerated() { move(from: position, to: destination + number) }
  }

  /// The elements at these positions, in that order; positions outside are left out.
  public func objects(at positions: some Sequence<Int>) -> [Element] {
    let count = count
    return positions.filter { $0 >= 0 && $0 < count }.map { self[$0] }
  }
}
