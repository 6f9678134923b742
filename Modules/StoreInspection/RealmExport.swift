import StorageInterface
import StoreValues

/// The objects of a JSON export of Realm Studio, identified and numbered.
///
/// Such a file has a list of objects for each type. It repeats a linked object at each link, in full and at every depth. Only if
/// objects link in cycles does each have a `$refId`; a link back to an object that is still being written is then `{"$ref": …}`. An
/// object is therefore identified by its `$refId`, else by its primary key, else by all its members: the file contains nothing
/// more.
struct RealmExport {
  typealias Members = [String: JSONNode]

  let catalog: Catalog
  /// The objects of each type, in the order of their keys, which begin at 1.
  private(set) var objects: [TableID: [Members]] = [:]
  private var keys: [Identity: Int64] = [:]
  private var types: [String: TableID] = [:]
  /// Embedded objects, by the place where they are written.
  private var parts: [Part: Int64] = [:]

  private enum Identity: Hashable {
    case reference(String)
    case primaryKey(TableID, JSONNode)
    case content(TableID, Members)
  }

  private struct Part: Hashable {
    var owner: ColumnID
    var key: Int64
    var position: Int
  }

  /// Throws for types and properties that the schema lacks: their values would be lost.
  init(_ file: [String: [Members]], _ catalog: Catalog) throws(InspectionError) {
    self.catalog = catalog
    for name in file.keys.sorted() where catalog[name] == nil {
      throw InspectionError(.usage, "The schema has no type '\(DisplayText.escaped(name))', which the export has.")
    }
    // Embedded objects are added with their owners.
    for table in catalog.tables where !table.isEmbedded {
      for members in file[table.name] ?? [] { _ = add(members, table) }
    }
    // Objects that are not listed themselves are found through links to them.
    var next = catalog.tables.map { (table: $0, done: 0) }
    while let at = next.firstIndex(where: { (objects[$0.table.id] ?? []).count > $0.done }) {
      let members = objects[next[at].table.id]?[next[at].done] ?? [:]
      next[at].done += 1
      try collect(members, Int64(next[at].done), next[at].table)
    }
  }

  /// The number of objects of a type.
  func count(of table: TableID) -> Int { objects[table]?.count ?? 0 }

  /// The object that a node represents, written in a property of `owner`.
  func key(_ node: JSONNode, of target: TableID, in column: ColumnID, _ owner: Int64, _ position: Int) -> Int64? {
    guard case .object(let members) = node else { return nil }
    if case .string(let reference)? = members["$ref"] { return keys[.reference(reference)] }
    if let part = parts[Part(owner: column, key: owner, position: position)] { return part }
    return catalog[target].flatMap { keys[identity(of: members, $0)] }
  }

  /// The object with this `$refId`, and its type.
  func object(_ reference: String) -> ObjectLink? {
    guard let table = types[reference], let key = keys[.reference(reference)] else { return nil }
    return ObjectLink(table, ObjectKey(key))
  }

  private func identity(of members: Members, _ table: TableEntry) -> Identity {
    if case .string(let reference)? = members["$refId"] { return .reference(reference) }
    if let name = table.columns.first(where: \.schema.isPrimaryKey)?.schema.name, let value = members[name] {
      return .primaryKey(table.id, value)
    }
    return .content(table.id, members)
  }

  /// If objects cannot be distinguished, links lead to the first.
  private mutating func add(_ members: Members, _ table: TableEntry) -> Int64 {
    objects[table.id, default: []].append(members)
    let key = Int64(objects[table.id]?.count ?? 0)
    let identity = identity(of: members, table)
    if keys[identity] == nil { keys[identity] = key }
    if case .reference(let reference) = identity { types[reference] = types[reference] ?? table.id }
    return key
  }

  private mutating func collect(_ members: Members, _ key: Int64, _ table: TableEntry) throws(InspectionError) {
    for (name, node) in members.sorted(by: { $0.key < $1.key }) where name != "$refId" {
      guard let column = table[name] else {
        throw InspectionError(.usage, "'\(table.name)' has no property '\(DisplayText.escaped(name))', which the export has.")
      }
      guard column.schema.isStored, column.schema.isRelationship, let target = column.schema.target.flatMap({ catalog[$0] })
      else { continue }
      for (position, linked) in RealmExport.elements(node, column.schema.kind).enumerated() {
        guard case .object(let members) = linked, members["$ref"] == nil else { continue }
        if target.isEmbedded {
          parts[Part(owner: table.column(column.id), key: key, position: position)] = add(members, target)
        } else if keys[identity(of: members, target)] == nil {
          _ = add(members, target)
        }
      }
    }
  }

  /// The nodes of a collection, those of a map in key order; for other kinds, the node itself.
  static func elements(_ node: JSONNode, _ kind: PropertyKind) -> [JSONNode] {
    switch (kind, node) {
    case (_, .null): []
    case (.list, .array(let nodes)), (.set, .array(let nodes)): nodes
    case (.map, .object(let members)): members.sorted { $0.key < $1.key }.map(\.value)
    default: [node]
    }
  }
}
