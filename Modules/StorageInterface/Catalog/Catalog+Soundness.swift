import StoreValues

extension Catalog {
  /// Why no build can have written the catalog, phrased to follow "In this catalog"; nil for a valid one. Checked whenever a
  /// catalog comes from a file or a caller; afterwards numbers and names are unique. O(n log n).
  package var fault: String? {
    if !hasSoundNumbers { return "two types, properties or indexes have one number, or a number was never given out" }
    if Catalog.hasTwins(tables.map(\.name)) { return "two types have one name" }
    for table in tables {
      if let fault = table.fault { return "\(fault) of the type '\(table.name)'" }
    }
    return nil
  }

  /// Whether every type, property and index has a distinct number below the next free one, on which everything that works with
  /// a catalog relies.
  var hasSoundNumbers: Bool {
    func areSound(_ numbers: [UInt16], _ next: UInt16) -> Bool {
      // Mostly they ascend, in the order they were assigned.
      let isAscending = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
      return (isAscending || !Catalog.hasTwins(numbers)) && numbers.allSatisfy { $0 < next }
    }
    return areSound(tables.map(\.id.rawValue), nextTable)
      && areSound(tables.flatMap { $0.indexes.map(\.id.rawValue) + $0.textIndexes.map(\.id.rawValue) }, nextIndex)
      && tables.allSatisfy { areSound($0.columns.map(\.id.rawValue), $0.nextProperty) }
  }

  /// By sorting, because the first use of hashing in a process costs more than opening a store.
  fileprivate static func hasTwins<T: Comparable>(_ elements: [T]) -> Bool {
    let sorted = elements.sorted()
    return zip(sorted, sorted.dropFirst()).contains { $0 == $1 }
  }
}

extension TableEntry {
  /// Engines number columns with signed 16-bit integers.
  private static let columnsMax = Int(Int16.max)

  fileprivate var fault: String? {
    if columns.count > TableEntry.columnsMax { return "there are too many properties" }
    if Catalog.hasTwins(columns.map(\.schema.name)) { return "two properties have one name" }
    for index in indexes {
      // In key order, distinct, and all of them scalar columns.
      if index.properties.isEmpty || Catalog.hasTwins(index.properties) { return "an index has no properties, or one twice" }
      if !index.properties.allSatisfy({ self[$0]?.schema.isScalar == true }) { return "an index is over what has no values" }
    }
    if !textIndexes.allSatisfy({ self[$0.property]?.schema.kind == .scalar(.string) }) { return "an index of words is over no text" }
    return nil
  }
}
