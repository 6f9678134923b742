import StoreValues

/// How many objects the tables have that a transaction has asked, by the table's number.
struct ObjectCounts {
  private var counts: [Int?] = []

  /// Nil where nobody has asked yet.
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
