/// The side entries that an open write has put or removed, over those of its snapshot.
struct SideEdits {
  enum Edit {
    case value(ValueBuffer)
    case removed

    var value: ValueBuffer? { if case .value(let value) = self { value } else { nil } }
  }

  private var edits: [[UInt8]: Edit] = [:]
  /// The keys in order; nil if not computed.
  private var order: [[UInt8]]?

  subscript(key: [UInt8]) -> Edit? { edits[key] }

  /// Records an edit; nil forgets that the entry was touched.
  mutating func put(_ edit: Edit?, _ key: [UInt8]) {
    let old = edits.updateValue(edit ?? .removed, forKey: key)
    if edit == nil { edits[key] = nil }
    if (old == nil) != (edit == nil) { order = nil }
  }

  /// The keys of the edits from `start` on and below `end`, ascending.
  mutating func edits(from start: [UInt8], below end: [UInt8]?) -> ArraySlice<[UInt8]> {
    let keys = order ?? edits.keys.sorted { $0.lexicographicallyPrecedes($1) }
    order = keys
    func place(_ bound: [UInt8]) -> Int {
      var (low, high) = (0, keys.count)
      while low < high {
        let middle = (low + high) / 2
        if keys[middle].lexicographicallyPrecedes(bound) { low = middle + 1 } else { high = middle }
      }
      return low
    }
    let first = place(start)
    return keys[first..<max(first, end.map(place) ?? keys.count)]
  }

  /// Every edit, in no particular order; nil: removed.
  func forEach(_ body: ([UInt8], ValueBuffer?) -> Void) {
    for (key, edit) in edits { body(key, edit.value) }
  }
}
