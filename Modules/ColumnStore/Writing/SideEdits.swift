/// The side entries that an open write has put or removed, over those of its snapshot.
///
/// A look at a range costs O(log² n) and what it finds, also if entries are put between looks: those since the last one are sorted, and
/// merged into what was sorted before only now and then.
struct SideEdits {
  enum Edit {
    case value(ValueBuffer)
    case removed

    var value: ValueBuffer? { if case .value(let value) = self { value } else { nil } }
  }

  private var edits: [[UInt8]: Edit] = [:]
  /// The keys in sorted runs, each at least twice as long as the next. A forgotten key stays, and is there twice if it is put again.
  private var runs: [[[UInt8]]] = []
  /// The keys that were put since the last look at a range, in order of arrival.
  private var tail: [[UInt8]] = []
  private var hasForgotten = false
  /// How many keys were sorted and merged; for tests.
  private(set) var work = 0

  subscript(key: [UInt8]) -> Edit? { edits[key] }

  /// Records an edit; nil forgets that the entry was touched.
  mutating func put(_ edit: Edit?, _ key: [UInt8]) {
    guard let edit else {
      if edits.removeValue(forKey: key) != nil { hasForgotten = true }
      return
    }
    if edits.updateValue(edit, forKey: key) == nil { tail.append(key) }
  }

  /// The keys of the edits from `start` on and below `end`, ascending.
  mutating func edits(from start: [UInt8], below end: [UInt8]?) -> ArraySlice<[UInt8]> {
    sortTail()
    var found: ArraySlice<[UInt8]> = []
    for run in runs {
      let first = SideEdits.place(of: start, in: run)
      let last = end.map { SideEdits.place(of: $0, in: run) } ?? run.count
      if first >= last { continue }
      found = found.isEmpty ? run[first..<last] : SideEdits.merged(found, run[first..<last])[...]
    }
    guard hasForgotten else { return found }
    var known: [[UInt8]] = []
    for key in found where edits[key] != nil && known.last != key { known.append(key) }
    return known[...]
  }

  /// Every edit, in no particular order; nil: removed.
  func forEach(_ body: ([UInt8], ValueBuffer?) -> Void) {
    for (key, edit) in edits { body(key, edit.value) }
  }

  // MARK: order

  private mutating func sortTail() {
    if tail.isEmpty { return }
    tail.sort { $0.lexicographicallyPrecedes($1) }
    work += tail.count
    runs.append(tail)
    tail = []
    while runs.count >= 2, runs[runs.count - 2].count < 2 * runs[runs.count - 1].count {
      let second = runs.removeLast()
      let first = runs.removeLast()
      runs.append(SideEdits.merged(first[...], second[...]))
      work += first.count + second.count
    }
  }

  private static func merged(_ a: ArraySlice<[UInt8]>, _ b: ArraySlice<[UInt8]>) -> [[UInt8]] {
    var all: [[UInt8]] = []
    all.reserveCapacity(a.count + b.count)
    var (i, j) = (a.startIndex, b.startIndex)
    while i < a.endIndex, j < b.endIndex {
      if b[j].lexicographicallyPrecedes(a[i]) {
        all.append(b[j])
        j += 1
      } else {
        all.append(a[i])
        i += 1
      }
    }
    all += a[i...]
    all += b[j...]
    return all
  }

  /// The first index whose key is not before a bound.
  private static func place(of bound: [UInt8], in keys: [[UInt8]]) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle].lexicographicallyPrecedes(bound) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
