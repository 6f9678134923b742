import StorageInterface
import StoreValues
import SyncClient
import SyncModel

/// What a store shows, object by object, as texts that two replicas can be compared by.
struct Picture: Equatable, Sendable {
  var objects: [String: [String: String]] = [:]

  /// Of a file.
  init(_ reading: any SideWriting, own: ReplicaID) throws {
    let names = ObjectNames(reading, own: own)
    for table in reading.catalog.tables where !table.isEmbedded {
      var keys: [Int64] = []
      try reading.scan(table.id, [], from: ObjectKey(1), hints: []) { batch in
        for row in 0..<batch.count where batch.isLive(at: row) { keys.append(batch.key(at: row).rawValue) }
        return .proceed
      }
      for key in keys {
        let identity = try names.identity(of: ObjectLink(table.id, ObjectKey(key)))
        objects["\(identity.map { "\($0)" } ?? "?")"] = try Picture.row(table, ObjectKey(key), reading, names)
      }
    }
  }

  private static func row(
    _ table: TableEntry, _ key: ObjectKey, _ reading: any SideWriting, _ names: ObjectNames
  ) throws -> [String: String] {
    var shown: [String: String] = [:]
    func text(_ value: Value, _ column: ColumnEntry) throws -> String {
      switch value {
      case .link(let key):
        guard let table = column.schema.target.flatMap({ reading.catalog[$0] }) else { return "?" }
        if table.isEmbedded { return "{" + Picture.text(try row(table, key, reading, names)) + "}" }
        return try names.identity(of: ObjectLink(table.id, key)).map { "→\($0)" } ?? "dead"
      case .object(let link): return try names.identity(of: link).map { "→\($0)" } ?? "dead"
      case .list(let all): return "[" + (try all.map { try text($0, column) }.joined(separator: ", ")) + "]"
      default: return "\(value)"
      }
    }
    for column in table.columns where column.schema.isStored {
      let id = table.column(column.id)
      switch column.schema.kind {
      case .scalar: shown[column.schema.name] = try text(try reading.value(id, key), column)
      case .list:
        let elements = try reading.values(id, key, 0..<Int.max).map { try text($0, column) }
        shown[column.schema.name] = "[" + elements.joined(separator: ", ") + "]"
      case .set:
        let members = try reading.values(id, key, 0..<Int.max).map { try text($0, column) }
        shown[column.schema.name] = "(" + members.sorted().joined(separator: ", ") + ")"
      case .map:
        shown[column.schema.name] =
          "<" + (try reading.entries(id, key, 0..<Int.max).map { "\($0.key): \(try text($0.value, column))" }.joined(separator: ", ")) + ">"
      case .linkingObjects: break
      }
    }
    return shown
  }

  private static func text(_ row: [String: String]) -> String {
    row.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
  }

  /// What the two differ in, for people.
  func difference(from other: Picture) -> String {
    var lines: [String] = []
    for name in Set(objects.keys).union(other.objects.keys).sorted() {
      let (own, others) = (objects[name], other.objects[name])
      if own == nil || others == nil {
        lines.append("\(name): \(own == nil ? "missing" : "too many")")
        continue
      }
      for (property, value) in own ?? [:] where others?[property] != value {
        lines.append("\(name).\(property): \(value), not \(others?[property] ?? "there")")
      }
    }
    return lines.joined(separator: "\n")
  }
}
