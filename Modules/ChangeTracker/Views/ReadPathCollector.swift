import QueryModel
import StorageInterface
import StoreValues

/// Turns property paths into read paths: for `best.owner.name` the rows' `best`, its target's `owner`, and that one's `name`,
/// each in the path of its table.
package struct ReadPathCollector {
  private let entry: TableEntry
  private let catalog: Catalog
  private let isToOne: (_ type: String, _ inverse: String) -> Bool
  /// One for each way to a table, in order of first use.
  package private(set) var paths: [ReadPath] = []

  /// - Parameter isToOne: whether an inverse of a type is one object, so that only the first source is read: the catalog does
  ///   not say.
  package init(
    _ entry: TableEntry, _ catalog: Catalog, isToOne: @escaping (_ type: String, _ inverse: String) -> Bool = { _, _ in false }
  ) {
    self.entry = entry
    self.catalog = catalog
    self.isToOne = isToOne
  }

  /// False if the catalog does not have the path; part of it may have been added.
  package mutating func add(_ path: PropertyPath, isSort: Bool) -> Bool {
    var current = entry
    var hops: [ReadPath.Hop] = []
    for (i, name) in path.components.enumerated() {
      // `dogs.@count` and the like read the relationship itself.
      if name == "@links" { return false }  // every type that points here
      if name.hasPrefix("@") { continue }
      guard let column = current[name] else { return false }
      // A mixed value may link to any type.
      if column.schema.valueType == .mixed, i < path.components.count - 1 { return false }
      guard case .linkingObjects(let origin, let property) = column.schema.kind else {
        note(hops, current, column.id, isSort)
        if i == path.components.count - 1 || !column.schema.isRelationship { continue }
        guard let target = column.schema.target.flatMap({ catalog[$0] }) else { return false }
        hops.append(.forward(current.column(column.id)))
        current = target
        continue
      }
      guard let source = catalog[origin], let forward = source[property] else { return false }
      let followed = source.column(forward.id)
      hops.append(isToOne(current.name, name) ? .firstInverse(followed) : .inverse(followed))
      current = source
      note(hops, current, forward.id, isSort, isFollowedBack: true)
    }
    return true
  }

  private mutating func note(
    _ hops: [ReadPath.Hop], _ table: TableEntry, _ property: PropertyID, _ isSort: Bool, isFollowedBack: Bool = false
  ) {
    let index = paths.firstIndex { $0.hops == hops } ?? paths.count
    if index == paths.count { paths.append(ReadPath(hops: hops, table: table.id, properties: PropertySet())) }
    if !isFollowedBack {
      paths[index].backlinks = PropertySet(paths[index].backlinks.properties.filter { $0 != property })
    } else if !paths[index].properties.contains(property) {
      paths[index].backlinks.insert(property)
    }
    paths[index].properties.insert(property)
    if isSort { paths[index].sortProperties.insert(property) }
  }

  /// The column of a sort key; nil if rows cannot be ordered by it.
  func sortColumn(_ key: SortKey) -> SortColumn? {
    // Columns store texts unfolded.
    guard key.folding == nil else { return nil }
    var current = entry
    var links: [ColumnID] = []
    for name in key.path.components.dropLast() {
      guard let column = current[name], column.schema.kind == .scalar(.link),
        let target = column.schema.target.flatMap({ catalog[$0] })
      else { return nil }
      links.append(current.column(column.id))
      current = target
    }
    guard let column = key.path.components.last.flatMap({ current[$0] }), case .scalar(let type) = column.schema.kind
    else { return nil }
    return SortColumn(
      links: links, column: current.column(column.id), type: type, isOptional: column.schema.isOptional,
      isAscending: key.ascending)
  }
}
