import StorageInterface
import StoreValues

/// A table's catalog entry in the engine's terms: its columns and index structures. Made once per catalog and shared by all
/// transactions of its versions, so that small writes do not rebuild it.
final class TableShapes: Sendable {
  let entry: TableEntry
  let columns: [ColumnShape]
  /// The slot of each property number; -1: none.
  let slots: [Int16]
  /// The index structures: the declared ones, then the backlinks of each relationship.
  let indexes: [IndexShape]
  /// Parallel to `indexes`: their `isDirect`, readable without touching the shape.
  let directness: [Bool]
  /// Positions in `indexes` of the structures that depend on a slot.
  let indexesOfSlot: [[Int]]

  init(_ entry: TableEntry) {
    self.entry = entry
    let columns = entry.columns.map { ColumnShape($0) }
    self.columns = columns
    var slots = [Int16](repeating: -1, count: (entry.columns.map { Int($0.id.rawValue) }.max() ?? 0) + 1)
    for (slot, column) in entry.columns.enumerated() { slots[Int(column.id.rawValue)] = Int16(truncatingIfNeeded: slot) }
    self.slots = slots
    var indexes = entry.indexes.compactMap { index in
      let parts = index.properties.compactMap { entry.slot(of: $0) }
      return parts.count == index.properties.count && !parts.isEmpty ? IndexShape(index, columns, slots: parts) : nil
    }
    for index in entry.textIndexes {
      if let slot = entry.slot(of: index.property), columns[slot].type == .string { indexes.append(IndexShape(index, slot: slot)) }
    }
    for (slot, shape) in columns.enumerated() where shape.hasBacklinks {
      indexes.append(IndexShape(backlinksOf: ColumnID(entry.id, shape.property), slot: slot, shape))
    }
    self.indexes = indexes
    directness = indexes.map(\.isDirect)
    indexesOfSlot = columns.indices.map { slot in indexes.indices.filter { indexes[$0].slots.contains(slot) } }
  }
}
