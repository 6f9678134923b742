import StorageInterface
import StoreValues

extension StoreVerifier {
  /// Verifies that the members of a set ascend by value and the keys of a map by bytes, without duplicates.
  func verifyMemberOrder(
    _ id: ColumnID, _ key: Int64, _ column: ColumnEntry, _ table: TableEntry
  ) throws(StorageError) {
    let members: [Value]
    if column.schema.isMap {
      members = try read.entries(id, ObjectKey(key), 0..<Int.max).map { .string($0.key) }
    } else {
      members = try read.values(id, ObjectKey(key), 0..<Int.max)
    }
    for (one, next) in zip(members, members.dropFirst()) where one.order(to: next) != .before {
      return fault("\(table.name) #\(key)", "has members of '\(column.schema.name)' out of order, or twice")
    }
  }

  /// Verifies that links inside mixed values lead to existing objects, whose inverses list them as often as they are linked.
  func verifyMixedLinks(_ column: ColumnEntry, _ table: TableEntry) {
    let id = table.column(column.id)
    var expected: [ObjectLink: [Int64]] = [:]
    for key in keys(of: table.id) {
      trying("\(table.name) #\(key)") { () throws(StorageError) in
        let values =
          column.schema.isScalar
          ? [try read.value(id, ObjectKey(key))] : try read.values(id, ObjectKey(key), 0..<Int.max)
        for link in values.flatMap(\.links) {
          expected[link, default: []].append(key)
          if !lives(link.table, link.key.rawValue) {
            fault("\(table.name) #\(key)", "leads by '\(column.schema.name)' to \(link), which is not there")
          }
        }
      }
    }
    report.linkCount += expected.values.reduce(0) { $0 + $1.count }
    for target in read.catalog.tables {
      for key in keys(of: target.id) {
        verifyMixedSources(ObjectLink(target.id, ObjectKey(key)), expected, id, column, table, target)
      }
    }
  }

  private func verifyMixedSources(
    _ link: ObjectLink, _ expected: [ObjectLink: [Int64]], _ id: ColumnID, _ column: ColumnEntry, _ table: TableEntry,
    _ target: TableEntry
  ) {
    let place = "\(target.name) #\(link.key.rawValue)"
    let wanted = expected[link] ?? []
    trying(place) { () throws(StorageError) in
      var sources: [Int64] = []
      try read.sources(of: link, through: id) { block in
        sources += block
        return .proceed
      }
      if sources == wanted { return }
      fault(
        place,
        "is said to be in '\(table.name).\(column.schema.name)' of \(StoreVerifier.list(sources)), "
          + "and is in that of \(StoreVerifier.list(wanted))")
    }
  }
}
