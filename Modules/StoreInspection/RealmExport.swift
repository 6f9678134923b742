import StorageInterface
import StoreValues

/// The objects of a JSON export of Realm Studio, told apart and numbered.
///
/// Such a file has a list of objects for each type. What an object links to is written in it again, in full and at every
/// depth; only where objects link in rings has each a `$refId`, and what is being written already is `{"$ref": …}`. So
/// an object is known by its `$refId`, else by its primary key, else by everything that it says: the file has no more.
struct RealmExport {
  typealias Members = [String: JSONNode]

  let catalog: Catalog
  /// By type, in the order of their keys, which begin at 1.
  private(set) var objects: [TableID: [Members]] = [:]
  private var keys: [Identity: Int64] = [:]
  private var types: [String: TableID] = [:]
  /// Parts of others, by the place at which they are written.
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

  /// Throws for types and properties that the schema does not have: they would be lost.
  init(_ file: [String: [Members]], _ catalog: Catalog) throws(InspectionError) {
    self.catalog = catalog
    for name in file.keys.sorted() where catalog[name] == nil {
      throw InspectionError(.usage, "The schema has no type '\(DisplayText.escaped(name))', which the export has.")
    }
    // Parts come with their owners.
    for table in catalog.tables where !table.isEmbedded {
      for members in file[table.name] ?? [] { _ = add(members, table) }
    }
    // Whatever is not listed by itself is found where it is linked.
    var next = catalog.tables.map { (table: $0, done: 0) }
    while let at = next.firstIndex(where: { (objects[$0.table.id] ?? []).count > $0.done }) {
      let members = objects[next[at].table.id]?[next[at].done] ?? [:]
      next[at].done += 1
      try collect(members, Int64(next[at].done), next[at].table)
    }
  }

  /// How many objects of a type there are.
  func count(of table: TableID) -> Int { objects[table]?.count ?? 0 }

  /// The object that a node stands for, which is written in a property of an object.
  func key(_ node: JSONNode, of target: TableID, in column: ColumnID, _ owner: Int64, _ position: Int) -> Int64? {
    guard case .object(let members) = node else { return nil }
    if case .string(let reference)? = members["$ref"] { return keys[.reference(reference)] }
    if let part = parts[Part(owner: column, key: owner, position: position)] { return part }
    return catalog[target].flatMap { keys[identity(of: members, $0)] }
  }

  /// The type that a `$refId` begins with, and the object.
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

  /// Of objects that cannot be told apart, links lead to the first.
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

  /// The nodes of a collection, of a map in the order of its keys; or the one node.
  static func elements(_ node: JSONNode, _ kind: PropertyKind) -> [JSONNode] {
    switch (kind, node) {
    case (_, .null): []
    case (.list, .array(let nodes)), (.set, .array(let nodes)): nodes
    case (.map, .object(let members)): members.sorted { $0.key < $1.key }.map(\.value)
    default: [node]
    }
  }
}
