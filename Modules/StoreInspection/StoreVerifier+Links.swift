import StorageInterface
import StoreValues

extension StoreVerifier {
  /// Verifies the values of a property: each is readable, and present if required; links and elements lead to existing objects,
  /// whose inverses list them.
  func verifyColumn(_ column: ColumnEntry, _ table: TableEntry) {
    let id = table.column(column.id)
    let target = column.schema.target.flatMap { read.catalog[$0] }
    if column.schema.isRelationship, target == nil {
      return fault("\(table.name).\(column.schema.name)", "leads to a type that is not in the store")
    }
    var pairs: [(target: Int64, source: Int64)] = []
    for key in keys(of: table.id) {
      trying("\(table.name) #\(key)") { () throws(StorageError) in
        if column.schema.isCollection {
          try verifyElements(id, key, column, table, target, &pairs)
          if !column.schema.isList { try verifyMemberOrder(id, key, column, table) }
        } else {
          let value = try read.value(id, ObjectKey(key))
          if case .link(let object) = value, let target {
            verifyLink(object.rawValue, from: key, column, table, target, &pairs)
          } else if value.isNull, !column.schema.mayBeNull {
            fault("\(table.name) #\(key)", "has no '\(column.schema.name)', which is required")
          }
        }
      }
    }
    if column.schema.valueType == .mixed { verifyMixedLinks(column, table) }
    guard let target, column.schema.isRelationship else { return }
    report.linkCount += pairs.count
    verifyBacklinks(pairs, id, column, table, target)
  }

  private func verifyElements(
    _ id: ColumnID, _ key: Int64, _ column: ColumnEntry, _ table: TableEntry, _ target: TableEntry?,
    _ pairs: inout [(target: Int64, source: Int64)]
  ) throws(StorageError) {
    let count = try read.elementCount(id, ObjectKey(key))
    var elements: [Int64] = []
    var found = 0
    try read.elements(id, ObjectKey(key), 0..<Int.max) { batch in
      found += batch.count
      guard target != nil else { return .proceed }
      let vector = batch.columns[0]
      for row in 0..<batch.count where !vector.isNull(at: row) { elements.append(vector.word(at: row)) }
      return .proceed
    }
    if found != count {
      fault("\(table.name) #\(key)", "counts \(count) elements in '\(column.schema.name)', and has \(found)")
    }
    guard let target else { return }
    for element in elements { verifyLink(element, from: key, column, table, target, &pairs) }
  }

  private func verifyLink(
    _ object: Int64, from key: Int64, _ column: ColumnEntry, _ table: TableEntry, _ target: TableEntry,
    _ pairs: inout [(target: Int64, source: Int64)]
  ) {
    if lives(target.id, object) {
      pairs.append((object, key))
    } else {
      fault("\(table.name) #\(key)", "leads by '\(column.schema.name)' to \(target.name) #\(object), which is not there")
    }
  }

  /// Verifies that the inverse of each target lists exactly the objects that link to it, as often as they do.
  private func verifyBacklinks(
    _ pairs: [(target: Int64, source: Int64)], _ id: ColumnID, _ column: ColumnEntry, _ table: TableEntry,
    _ target: TableEntry
  ) {
    let pairs = pairs.sorted { ($0.target, $0.source) < ($1.target, $1.source) }
    var next = 0
    for key in keys(of: target.id) {
      var expected: [Int64] = []
      while next < pairs.count, pairs[next].target == key {
        expected.append(pairs[next].source)
        next += 1
      }
      let place = "\(target.name) #\(key)"
      trying(place) { () throws(StorageError) in
        var sources: [Int64] = []
        try read.sources(of: ObjectKey(key), through: id) { block in
          sources += block
          return .proceed
        }
        if sources != expected {
          fault(
            place, "is said to be in '\(table.name).\(column.schema.name)' of \(StoreVerifier.list(sources)), and is in that of \(StoreVerifier.list(expected))")
        }
      }
    }
  }

  static func list(_ keys: [Int64]) -> String {
    if keys.isEmpty { return "nobody" }
    return keys.prefix(5).map { "#\($0)" }.joined(separator: " ") + (keys.count > 5 ? " and \(keys.count - 5) more" : "")
  }
}
