import StorageInterface

/// The columns of a scan and its hints, evaluated once for all chunks.
struct AskedColumns {
  let slots: [Int]
  /// The slots whose values are read: all except those of which only nulls are needed.
  let valued: [Int]
  /// Whether some of those are byte strings, which may be in entries of their own.
  let hasBytes: Bool
  /// Whether values are read of every column, and all are words.
  let isOfNumbers: Bool
  /// Ranges of ordinals; the scan skips chunks without one.
  let zones: [(slot: Int, from: Int64, to: Int64)]
  /// Parallel to `slots`; empty if values are read of every column.
  private let ofNulls: [Bool]

  init(_ slots: [Int], _ hints: [ZoneHint], _ table: TableState) {
    var zones: [(slot: Int, from: Int64, to: Int64)] = []
    var ofNulls: [Bool] = []
    for hint in hints where slots.indices.contains(hint.column) {
      switch hint.interest {
      case .ordinals(let from, let to): zones.append((slots[hint.column], from, to))
      case .nulls:
        if ofNulls.isEmpty { ofNulls = [Bool](repeating: false, count: slots.count) }
        ofNulls[hint.column] = true
      }
    }
    self.slots = slots
    self.zones = zones
    self.ofNulls = ofNulls
    valued = ofNulls.isEmpty ? slots : slots.indices.filter { !ofNulls[$0] }.map { slots[$0] }
    hasBytes = valued.contains { table.shapes[$0].form == .bytes }
    isOfNumbers = ofNulls.isEmpty && slots.allSatisfy { table.shapes[$0].form.isWord }
  }

  @inline(__always) func isOfNulls(_ position: Int) -> Bool { !ofNulls.isEmpty && ofNulls[position] }
}
