import StorageInterface
import StoreValues

/// Which properties of which objects were set, collected in O(1) each; duplicates are removed whenever the list has doubled.
struct Modifications {
  /// Object key times 65,536 plus property; unsorted from `joinedCount` on.
  private var entries: [UInt64] = []
  /// The number of leading entries that are sorted and distinct.
  private var joinedCount = 0
  /// Objects whose keys are too large for the entries; in practice none.
  private var far: [Int64: PropertySet] = [:]

  private static let joinedMin = 4_096
  private static let nearMax: Int64 = 1 << 48

  var isEmpty: Bool { entries.isEmpty && far.isEmpty }

  @inline(__always) mutating func add(_ key: Int64, _ property: PropertyID) {
    guard key >= 0, key < Modifications.nearMax else {
      far[key, default: PropertySet()].insert(property)
      return
    }
    entries.append(UInt64(key) << 16 | UInt64(property.rawValue))
    if entries.count > joinedCount * 2 + Modifications.joinedMin { join() }
  }

  /// Adds what was set later, of objects with smaller keys.
  mutating func add(_ later: Modifications, below limit: Int64) {
    for entry in later.entries where Int64(entry >> 16) < limit {
      entries.append(entry)
      if entries.count > joinedCount * 2 + Modifications.joinedMin { join() }
    }
    for (key, properties) in later.far where key < limit { far[key, default: PropertySet()].formUnion(properties) }
  }

  /// In key order, one per object.
  var objects: [ModifiedObject] {
    var joined = self
    joined.join()
    var result: [ModifiedObject] = []
    for entry in joined.entries {
      let (key, property) = (Int64(entry >> 16), PropertyID(UInt16(truncatingIfNeeded: entry)))
      if result.last?.key.rawValue != key { result.append(ModifiedObject(key: ObjectKey(key), properties: PropertySet())) }
      result[result.count - 1].properties.insert(property)
    }
    if far.isEmpty { return result }
    result += far.map { ModifiedObject(key: ObjectKey($0.key), properties: $0.value) }
    return result.sorted { $0.key < $1.key }
  }

  private mutating func join() {
    Modifications.sort(&entries)
    var last = -1
    for i in entries.indices where last < 0 || entries[last] != entries[i] {
      last += 1
      entries[last] = entries[i]
    }
    entries.removeLast(entries.count - last - 1)
    joinedCount = entries.count
  }

  /// Radix sort by 11-bit digits from the lowest up, over the bits that differ; a few entries are sorted by comparison.
  private static func sort(_ entries: inout [UInt64]) {
    if entries.count < 512 { return entries.sort() }
    let different = entries.reduce(0, |) ^ entries.reduce(.max, &)
    var scratch = [UInt64](repeating: 0, count: entries.count)
    var counts = [Int](repeating: 0, count: 2_048)
    for shift in stride(from: UInt64(0), to: 64, by: 11) where (different >> shift) & 2_047 != 0 {
      for digit in counts.indices { counts[digit] = 0 }
      for entry in entries { counts[Int((entry >> shift) & 2_047)] &+= 1 }
      var sum = 0
      for digit in counts.indices {
        let count = counts[digit]
        counts[digit] = sum
        sum &+= count
      }
      for entry in entries {
        let digit = Int((entry >> shift) & 2_047)
        scratch[counts[digit]] = entry
        counts[digit] &+= 1
      }
      swap(&entries, &scratch)
    }
  }
}
