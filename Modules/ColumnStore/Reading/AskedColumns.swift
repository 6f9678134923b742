import StorageInterface

/// What a scan asks of its columns, worked out once for all chunks.
struct AskedColumns {
  let slots: [Int]
  /// The slots whose values are read: all but those of which only the nulls are asked.
  let valued: [Int]
  /// Whether some of those are byte strings, which may lie in entries of their own.
  let hasBytes: Bool
  /// Whether values are read of every column, and all are words.
  let isOfNumbers: Bool
  /// Chunks without such an ordinal have nothing for the caller.
  let zones: [(slot: Int, from: Int64, to: Int64)]
  /// By position in `slots`; empty where values are read of every column.
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
