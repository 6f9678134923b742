import Foundation

extension LiveList where Element: PersistableElement {
  /// Removes the elements at these positions, as SwiftUI's `onDelete` passes them. Ignores positions out of bounds; objects stay in
  /// the store.
  public nonmutating func remove(atOffsets offsets: IndexSet) {
    let count = count
    for position in offsets.reversed() where position >= 0 && position < count { remove(at: position) }
  }

  /// Moves the elements at some positions, in their order, before the element now at `destination` (`onMove`), or to the end if it
  /// is `count`. Ignores positions out of bounds.
  public nonmutating func move(fromOffsets source: IndexSet, toOffset destination: Int) {
    let count = count
    let destination = Swift.min(Swift.max(0, destination), count)
    let moved = source.filter { $0 >= 0 && $0 < count }
    // Elements before the destination move up, and each such move lowers the position of the next by one. Elements after it move
    // down, which leaves the positions behind them unchanged.
    for (number, position) in moved.filter({ $0 < destination }).enumerated() { move(from: position - number, to: destination - 1) }
    for (number, position) in moved.filter({ $0 >= destination }).enumerated() { move(from: position, to: destination + number) }
  }

  /// The elements at these positions, in that order. Ignores positions out of bounds.
  public func objects(at positions: some Sequence<Int>) -> [Element] {
    let count = count
    return positions.filter { $0 >= 0 && $0 < count }.map { self[$0] }
  }
}
