import Foundation

extension LiveList where Element: PersistableElement {
  /// Removes the elements at these positions, as SwiftUI's `onDelete` passes them. Ignores positions out of bounds; objects stay in
  /// the store.
  public nonmutating func remove(atOffsets offsets: IndexSet, fileID: StaticString = #fileID, line: UInt = #line) {
    remove(atOffsets: offsets, SourcePlace(fileID, line))
  }

  /// Removes them. Not SwiftUI's function, which would be preferred to one with default arguments.
  @_disfavoredOverload public nonmutating func remove(atOffsets offsets: IndexSet) { remove(atOffsets: offsets, nil) }

  private nonmutating func remove(atOffsets offsets: IndexSet, _ place: SourcePlace?) {
    let count = count
    for position in offsets.reversed() where position >= 0 && position < count { removeElements(position..<position + 1, place) }
  }

  /// Moves the elements at some positions, in their order, before the element now at `destination` (`onMove`), or to the end if it
  /// is `count`. Ignores positions out of bounds.
  public nonmutating func move(
    fromOffsets source: IndexSet, toOffset destination: Int, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    move(fromOffsets: source, toOffset: destination, SourcePlace(fileID, line))
  }

  /// Moves them. Not SwiftUI's function, which would be preferred to one with default arguments.
  @_disfavoredOverload public nonmutating func move(fromOffsets source: IndexSet, toOffset destination: Int) {
    move(fromOffsets: source, toOffset: destination, nil)
  }

  private nonmutating func move(fromOffsets source: IndexSet, toOffset destination: Int, _ place: SourcePlace?) {
    let count = count
    let destination = Swift.min(Swift.max(0, destination), count)
    let moved = source.filter { $0 >= 0 && $0 < count }
    // Elements before the destination move up, and each such move lowers the position of the next by one. Elements after it move
    // down, which leaves the positions behind them unchanged.
    for (number, position) in moved.filter({ $0 < destination }).enumerated() {
      moveElement(from: position - number, to: destination - 1, place)
    }
    for (number, position) in moved.filter({ $0 >= destination }).enumerated() {
      moveElement(from: position, to: destination + number, place)
    }
  }

  /// The elements at these positions, in that order. Ignores positions out of bounds.
  public func objects(at positions: some Sequence<Int>) -> [Element] {
    let count = count
    return positions.filter { $0 >= 0 && $0 < count }.map { self[$0] }
  }
}
