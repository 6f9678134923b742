/// The chunks that a transaction has read, by number. Objects get consecutive keys, so numbers index an array and lookups need
/// no hashing; the few high numbers are in a dictionary.
struct ChunkTable {
  /// Numbers below this are in the array, which costs half a megabyte at most.
  private static let nearMax: Int64 = 65_536
  private var near: [Chunk?] = []
  private var far: [Int64: Chunk] = [:]

  subscript(number: Int64) -> Chunk? {
    @inline(__always) get {
      if number >= 0, number < Int64(near.count) { return near[Int(number)] }
      return far.isEmpty ? nil : far[number]
    }
    set {
      guard number >= 0, number < ChunkTable.nearMax else {
        far[number] = newValue
        return
      }
      // Below `nearMax`, so it is an `Int`.
      let i = Int(number)
      if i >= near.count {
        near.append(contentsOf: repeatElement(nil, count: max(i + 1, near.count * 2, 16) - near.count))
      }
      near[i] = newValue
    }
  }

  /// All chunks, in no particular order.
  var values: [Chunk] { near.compactMap { $0 } + far.values }
}
