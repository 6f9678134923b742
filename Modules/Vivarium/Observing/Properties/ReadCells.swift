import Observation

/// What Observation sees of one type in one store: a cell for each property of the objects whose keys agree modulo 64, one for all
/// objects, and one for which objects exist. Confined like the store.
///
/// A tracked read is a place in an array and a call of Observation: stores of the main actor track all of their reads, also those
/// that nobody observes.
struct ReadCells {
  private static let stripes: Int64 = 64
  static let whole = 0
  static let membership = 1

  private var cells: ContiguousArray<ReadCell?> = []

  static func place(_ key: Int64, _ ordinal: Int) -> Int { 2 + (ordinal * Int(stripes) + Int(key & (stripes - 1))) }

  /// The cell at a place, if it was read.
  subscript(place: Int) -> ReadCell? { place < cells.count ? cells[place] : nil }

  /// Those that were read.
  var made: [ReadCell] { cells.compactMap { $0 } }

  /// The cell at a place, made by the first read.
  mutating func cell(at place: Int) -> ReadCell {
    if place < cells.count, let cell = cells[place] { return cell }
    return makeCell(at: place)
  }

  @inline(never)
  private mutating func makeCell(at place: Int) -> ReadCell {
    if place >= cells.count { cells += repeatElement(nil, count: place + 1 - cells.count) }
    let cell = ReadCell()
    cells[place] = cell
    return cell
  }
}

/// One property of the objects whose keys agree modulo 64, as Observation sees it.
final class ReadCell: Observable {
  private static let path = \ReadCell.changes
  private let registrar = ObservationRegistrar()
  private var changes: Int { 0 }

  func read() { registrar.access(self, keyPath: ReadCell.path) }
  func change() { registrar.withMutation(of: self, keyPath: ReadCell.path) {} }
}
