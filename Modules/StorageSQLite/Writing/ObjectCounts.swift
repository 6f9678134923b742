import StoreValues

/// The object counts that a transaction has read, by table number.
struct ObjectCounts {
  private var counts: [Int?] = []

  /// Nil if not read yet.
  subscript(table: TableID) -> Int? {
    get {
      let i = Int(table.rawValue)
      return i < counts.count ? counts[i] : nil
    }
    set {
      let i = Int(table.rawValue)
      while counts.count <= i { counts.append(nil) }
      counts[i] = newValue
    }
  }
}
