import StorageInterface
import StoreValues

extension StoreVerifier {
  /// Verifies that an index contains each object once, in the order of its values, and that a unique index has no value twice and
  /// finds each object by its values.
  func verifyIndex(_ index: IndexEntry, _ table: TableEntry) {
    report.indexCount += 1
    let names = index.properties.compactMap { table[$0]?.schema.name }.joined(separator: ", ")
    let place = "index of \(table.name) over \(names)"
    trying(place) { () throws(StorageError) in
      var order: [Int64] = []
      try read.keys(in: index.id, .all, descending: false) { keys in
        order += keys
        return .proceed
      }
      let count = try read.count(in: index.id, .all)
      if count != order.count { fault(place, "counts \(count) entries, and has \(order.count)") }
      verifyMembers(order, place, table)
      try verifyOrder(order, index, place, table)
    }
  }

  private func verifyMembers(_ order: [Int64], _ place: String, _ table: TableEntry) {
    let entries = order.sorted()
    let objects = keys(of: table.id)
    var (entry, object) = (0, 0)
    while entry < entries.count || object < objects.count {
      if object == objects.count || (entry < entries.count && entries[entry] < objects[object]) {
        fault(place, "has an entry of \(table.name) #\(entries[entry]), which is not there")
        entry += 1
      } else if entry == entries.count || objects[object] < entries[entry] {
        fault(place, "has no entry of \(table.name) #\(objects[object])")
        object += 1
      } else {
        let key = entries[entry]
        object += 1
        entry += 1
        while entry < entries.count, entries[entry] == key {
          fault(place, "has \(table.name) #\(key) twice")
          entry += 1
        }
      }
    }
  }

  private func verifyOrder(
    _ order: [Int64], _ index: IndexEntry, _ place: String, _ table: TableEntry
  ) throws(StorageError) {
    var last: (key: Int64, values: [Value])?
    for key in order where lives(table.id, key) {
      var values: [Value] = []
      for property in index.properties { values.append(try read.value(table.column(property), ObjectKey(key))) }
      if let last {
        switch StoreVerifier.order(last.values, values) {
        case .after: fault(place, "has \(table.name) #\(key) after #\(last.key), whose values are higher")
        case .same where index.isUnique && !values.contains(where: \.isNull):
          fault(place, "is unique, and \(table.name) #\(last.key) and #\(key) have the same values")
        case .same where last.key >= key: fault(place, "has \(table.name) #\(key) after #\(last.key), whose values are the same")
        default: break
        }
      }
      if index.isUnique, !values.contains(where: \.isNull), try read.key(in: index.id, equal: values)?.rawValue != key {
        fault(place, "does not find \(table.name) #\(key) by its values")
      }
      last = (key, values)
    }
  }

  private static func order(_ a: [Value], _ b: [Value]) -> Value.Order {
    for (x, y) in zip(a, b) {
      let order = x.order(to: y)
      if order != .same { return order }
    }
    return .same
  }
}
