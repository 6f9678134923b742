import StorageInterface
import StoreValues

/// The words of one column that a write has set but not written to the table yet, by object.
///
/// `@exclusivity(unchecked)`: confined to its transaction, and no access spans a call of a caller's closure.
final class PendingWords {
  let column: ColumnLayout
  @exclusivity(unchecked) private var keys: [Int64] = []
  @exclusivity(unchecked) private var words: [Int64] = []
  /// The positions in `words` that are null; empty if none is.
  @exclusivity(unchecked) private var nulls: Set<Int> = []
  /// A hash table of positions in `keys` plus one; 0 is free. Empty while there are so few keys that a linear search is used.
  @exclusivity(unchecked) private var places: [Int32] = []
  @exclusivity(unchecked) private var shift: UInt64 = 64

  private static let lookedThroughMax = 8

  init(_ column: ColumnLayout) { self.column = column }

  var count: Int { keys.count }

  /// The word that was set last: nil if there is none, and a nil in it for null.
  @inline(__always) func word(of key: Int64) -> Int64?? {
    guard let position = position(of: key) else { return nil }
    return .some(!nulls.isEmpty && nulls.contains(position) ? nil : words[position])
  }

  func set(_ key: Int64, _ word: Int64?) {
    let position: Int
    if let known = self.position(of: key) {
      position = known
      words[position] = word ?? 0
    } else {
      position = keys.count
      keys.append(key)
      words.append(word ?? 0)
      remember(position)
    }
    if word == nil { nulls.insert(position) } else if !nulls.isEmpty { nulls.remove(position) }
  }

  /// Calls `body` for each object, in ascending key order.
  func forEach(_ body: (Int64, Int64?) throws(StorageError) -> Void) throws(StorageError) {
    var order = Array(keys.indices)
    // Objects often come in key order.
    if zip(keys, keys.dropFirst()).contains(where: { $0 > $1 }) { order.sort { keys[$0] < keys[$1] } }
    for position in order { try body(keys[position], nulls.contains(position) ? nil : words[position]) }
  }

  @inline(__always) private func position(of key: Int64) -> Int? {
    if places.isEmpty { return keys.lastIndex(of: key) }
    var place = place(of: key)
    while places[place] != 0 {
      let position = Int(places[place]) - 1
      if keys[position] == key { return position }
      place = (place &+ 1) & (places.count &- 1)
    }
    return nil
  }

  @inline(__always) private func place(of key: Int64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  private func remember(_ position: Int) {
    if keys.count <= PendingWords.lookedThroughMax { return }
    if keys.count * 2 > places.count {
      let bits = (keys.count * 4 - 1).bitWidth - (keys.count * 4 - 1).leadingZeroBitCount
      places = [Int32](repeating: 0, count: 1 << bits)
      shift = UInt64(64 - bits)
      for position in keys.indices { put(position) }
    } else {
      put(position)
    }
  }

  private func put(_ position: Int) {
    var place = place(of: keys[position])
    while places[place] != 0 { place = (place &+ 1) & (places.count &- 1) }
    places[place] = Int32(truncatingIfNeeded: position + 1)
  }
}
