import QueryModel
import StorageInterface
import StoreValues

extension Binder {
  /// Binds an operand that is a path, with the operators behind it.
  mutating func row(_ path: PropertyPath) throws(QueryError) -> RowExpression {
    let origin = try origin(path)
    var components = origin.components
    var transform = RowwisePath.Transform.none
    if components.last == "@type" {
      components.removeLast()
      transform = .typeName
    }
    if components.last?.lowercased() == "length", components.count > 1,
      var inner = try? steps(components.dropLast(), path, from: origin).path,
      inner.type == .string || inner.type == .data || inner.type == .mixed
    {
      inner.transform = .length
      return .path(inner)
    }
    if transform == .none, let at = components.firstIndex(where: { CollectionAggregate(component: $0) != nil }),
      let aggregate = CollectionAggregate(component: components[at])
    {
      return try row(aggregate, of: components[..<at], then: components[(at + 1)...], path, from: origin)
    }
    var bound = try steps(components, path, from: origin).path
    bound.transform = transform
    return .path(bound)
  }

  /// The beginning of a path, and its remaining components.
  private struct Origin {
    let table: TableEntry
    /// How many SUBQUERYs further out it begins; 0 is the object that is tested.
    let outer: Int
    let components: ArraySlice<String>
  }

  private func origin(_ path: PropertyPath) throws(QueryError) -> Origin {
    if let first = path.components.first, Binder.mayNameObject(first), first != variable, table[first] == nil {
      let at = isSelf(first) && !outer.isEmpty ? 0 : outer.lastIndex { $0.variable == first }
      if let at {
        return Origin(table: outer[at].table, outer: outer.count - at, components: path.components.dropFirst())
      }
    }
    return Origin(table: table, outer: 0, components: try ownComponents(path))
  }

  /// `collection.@sum.property`, `list.@max`, `collection.property.@sum`.
  private mutating func row(
    _ aggregate: CollectionAggregate, of collection: ArraySlice<String>, then rest: ArraySlice<String>, _ path: PropertyPath,
    from origin: Origin
  ) throws(QueryError) -> RowExpression {
    var (whole, _) = try steps(collection, path, from: origin)
    if aggregate == .count {
      guard rest.isEmpty else { throw unknown(rest.joined(separator: "."), path) }
      // For many objects: the length of each one's text, as Realm counts.
      if !whole.endsInCollection, whole.type == .string || whole.type == .data {
        whole.transform = .length
        return .path(whole)
      }
      // One link counts as 1, a null one as 0.
      if whole.isMany || whole.type == .link || whole.type == .mixed { return .aggregate(whole, .count) }
    }
    guard whole.isMany || whole.type == .mixed else {
      throw QueryError(
        .needsCollection, "\(aggregate.rawValue) in '\(path)' stands behind one value, not a collection.",
        remedy: "Use it behind a list or an inverse.", path: path.description)
    }
    let bound = rest.isEmpty ? whole : try steps(collection + rest, path, from: origin).path
    let isRanked = (bound.type == .date) && (aggregate == .min || aggregate == .max)
    guard bound.type.isNumber || bound.type == .mixed || isRanked else {
      throw QueryError(
        .typeMismatch, "\(aggregate.rawValue) in '\(path)' cannot be taken of \(bound.type.rawValue).",
        remedy: "Name a numeric property behind it.", path: path.description)
    }
    return .aggregate(bound, aggregate)
  }

  func unknown(_ name: String, _ path: PropertyPath) -> QueryError {
    QueryError(.unknownProperty, "'\(name)' in '\(path)' is unknown.", remedy: "Check the name.", path: path.description)
  }

  /// Resolves names one by one. Also returns the type of the objects at the end, if there are any.
  private mutating func steps(
    _ components: ArraySlice<String>, _ path: PropertyPath, from origin: Origin
  ) throws(QueryError) -> (path: RowwisePath, entry: TableEntry?) {
    var result = RowwisePath()
    result.outer = origin.outer
    result.target = origin.table.id
    var entry: TableEntry? = origin.table
    var rest = components
    while let name = rest.first {
      rest.removeFirst()
      guard let here = entry else {
        if case .scalar = result.end, name.hasPrefix("[") {
          throw noPositions(path.components[path.components.count - rest.count - 2], path)
        }
        throw QueryError(
          .unknownProperty, "'\(name)' in '\(path)' follows something that is no object.", remedy: "End the path before it.",
          path: path.description)
      }
      var name = name
      if name == "SELF", here[name] == nil {
        guard here["self"] != nil else { continue }
        name = "self"
      }
      if name == "@links" {
        entry = try backlinks(&rest, here, &result, path)
        continue
      }
      guard let column = here[name] else {
        if name.hasPrefix("[") { throw noPositions(path.components.first ?? "", path) }
        throw .unknownProperty(name, of: here, in: path.description)
      }
      entry = try append(column, of: here, &rest, to: &result, path)
    }
    return (result, entry)
  }

  private func noPositions(_ name: String, _ path: PropertyPath) -> QueryError {
    QueryError(
      .typeMismatch, "'\(name)' in '\(path)' is no list and has no positions.", remedy: "Leave the brackets out.", path: path.description)
  }

  private mutating func append(
    _ column: ColumnEntry, of entry: TableEntry, _ rest: inout ArraySlice<String>, to result: inout RowwisePath, _ path: PropertyPath
  ) throws(QueryError) -> TableEntry? {
    let id = entry.column(column.id)
    result.hasManyOwners = result.isMany
    result.endsInCollection = false
    let target = column.schema.target.flatMap { catalog[$0] }
    switch column.schema.kind {
    case .linkingObjects(let origin, let property):
      guard let source = catalog[origin], let forward = source[property] else { throw unknown(origin, path) }
      columns.insert(source.column(forward.id))
      result.follow(try takePosition(&rest, path), ofSources: [source.column(forward.id)], of: entry.id, to: source)
      return source
    case .scalar(.link):
      columns.insert(id)
      if rest.first?.hasPrefix("[") == true, rest.first != "[size]" { throw noPositions(column.schema.name, path) }
      result.follow(.link(id), to: target, isMany: false)
      result.endsInCollection = true
      return target
    case .scalar(let type):
      columns.insert(id)
      if rest.first?.hasPrefix("[") == true, type != .mixed { throw noPositions(column.schema.name, path) }
      result.finish(.scalar(id), type)
      if type == .mixed { try inside(&rest, &result, path) }
      return nil
    case .list(let type):
      columns.insert(id)
      let position = try takePosition(&rest, path)
      if type == .link {
        result.follow(.list(id, position), to: target, isMany: position == nil)
        result.endsInCollection = position == nil
        return target
      }
      result.finish(.elements(id, position), type)
      if position == nil { result.isMany = true }
      result.endsInCollection = position == nil
      if type == .mixed { try inside(&rest, &result, path) }
      return nil
    case .set(let type):
      columns.insert(id)
      if rest.first == "[*]" { rest.removeFirst() }
      if rest.first?.hasPrefix("[") == true, rest.first != "[size]" { throw noPositions(column.schema.name, path) }
      result.endsInCollection = true
      if type == .link {
        result.follow(.set(id), to: target, isMany: true)
        result.endsInCollection = true
        return target
      }
      result.finish(.elements(id, nil), type)
      result.isMany = true
      result.endsInCollection = true
      return nil
    case .map(let type): return try appendMap(id, type, target, &rest, to: &result, path)
    }
  }

  private mutating func appendMap(
    _ id: ColumnID, _ type: ValueType, _ target: TableEntry?, _ rest: inout ArraySlice<String>, to result: inout RowwisePath,
    _ path: PropertyPath
  ) throws(QueryError) -> TableEntry? {
    columns.insert(id)
    if rest.first == "@keys" {
      rest.removeFirst()
      result.finish(.keys(id), .string)
      (result.isMany, result.endsInCollection) = (true, true)
      return nil
    }
    let wantsValues = rest.first == "@values" || rest.first == "[*]"
    if wantsValues { rest.removeFirst() }
    var key: String?
    if !wantsValues, let next = rest.first {
      if let quoted = PropertyPath.key(in: next) {
        key = quoted
      } else if next.hasPrefix("["), next != "[size]" {
        throw QueryError(
          .typeMismatch, "'\(next)' in '\(path)' is no key of a map.", remedy: "Write the key in quotes.", path: path.description)
      } else if !next.hasPrefix("@"), next != "[size]", next != "length" || type == .link, target?[next] == nil {
        key = next
      }
      if key != nil { rest.removeFirst() }
    }
    if type == .link {
      if key == nil, rest.isEmpty {
        result.finish(.links(id), .link)
        result.target = target?.id
        (result.isMany, result.endsInCollection) = (true, true)
        return target
      }
      result.follow(.map(id, key: key), to: target, isMany: key == nil)
      result.endsInCollection = key == nil
      return target
    }
    if let key {
      result.finish(.value(id, key: key), type)
    } else {
      result.finish(.elements(id, nil), type)
      (result.isMany, result.endsInCollection) = (true, true)
    }
    if type == .mixed { try inside(&rest, &result, path) }
    return nil
  }

  /// The rest of a path after a mixed value, up to an operator that ends it.
  private func inside(_ rest: inout ArraySlice<String>, _ result: inout RowwisePath, _ path: PropertyPath) throws(QueryError) {
    while let component = rest.first {
      if component == "[*]" {
        result.inside.append(.all)
        (result.isMany, result.endsInCollection) = (true, true)
      } else if component == "@keys" {
        result.inside.append(.keys)
        (result.isMany, result.endsInCollection) = (true, true)
      } else if let key = PropertyPath.key(in: component) {
        result.inside.append(.key(key))
      } else if component.hasPrefix("["), component != "[size]" {
        guard let position = try elementPosition(component, path) else { return }
        result.inside.append(.position(position))
      } else if component == "length", rest.count == 1 {
        return
      } else if !component.hasPrefix("@") || component == "@values" {
        result.inside.append(.key(component))
      } else {
        return
      }
      rest.removeFirst()
    }
  }

  /// `@links.Type.property`, or `@links` before `@count` for every type.
  private mutating func backlinks(
    _ rest: inout ArraySlice<String>, _ here: TableEntry, _ result: inout RowwisePath, _ path: PropertyPath
  ) throws(QueryError) -> TableEntry? {
    result.hasManyOwners = result.isMany
    result.endsInCollection = false
    guard let name = rest.popFirst() else {
      let all = catalog.tables.flatMap { table in
        table.columns.filter { $0.schema.target == here.name && $0.schema.isRelationship || $0.schema.valueType == .mixed }
          .map { table.column($0.id) }
      }
      columns.formUnion(all)
      result.follow(.inverse(all, of: here.id), to: nil, isMany: true)
      return nil
    }
    guard let source = catalog[named: name], let property = rest.popFirst(), let forward = source[property],
      forward.schema.isRelationship, forward.schema.target == here.name
    else { throw unknown(name, path) }
    columns.insert(source.column(forward.id))
    result.follow(try takePosition(&rest, path), ofSources: [source.column(forward.id)], of: here.id, to: source)
    return source
  }

  private func takePosition(_ rest: inout ArraySlice<String>, _ path: PropertyPath) throws(QueryError) -> ElementPosition? {
    if rest.first == "[*]" {
      rest.removeFirst()
      return nil
    }
    guard let component = rest.first, component != "[size]", let position = try elementPosition(component, path) else { return nil }
    rest.removeFirst()
    return position
  }

  private func elementPosition(_ component: String, _ path: PropertyPath) throws(QueryError) -> ElementPosition? {
    guard component.hasPrefix("["), component.hasSuffix("]") else { return nil }
    switch component.dropFirst().dropLast() {
    case "first": return .index(0)
    case "last": return .last
    case let text:
      guard let number = Int(text), number >= 0 else {
        throw QueryError(
          .typeMismatch, "'\(component)' in '\(path)' is no position.", remedy: "Use a number, FIRST or LAST.",
          path: path.description)
      }
      return .index(number)
    }
  }
}

extension RowwisePath {
  fileprivate mutating func follow(_ step: Step, to target: TableEntry?, isMany: Bool) {
    steps.append(step)
    type = .link
    self.target = target?.id
    if isMany { self.isMany = true }
  }

  /// Follows an inverse to all objects that point back, or to the one at a position.
  fileprivate mutating func follow(
    _ position: ElementPosition?, ofSources columns: [ColumnID], of table: TableID, to target: TableEntry
  ) {
    follow(
      position.map { .source(columns, of: table, $0) } ?? .inverse(columns, of: table), to: target, isMany: position == nil)
    endsInCollection = position == nil
  }

  fileprivate mutating func finish(_ end: End, _ type: ValueType) {
    self.end = end
    self.type = type
    target = nil
  }
}

extension Catalog {
  /// A type by its name, which may carry Realm's table prefix.
  subscript(named name: String) -> TableEntry? {
    self[name] ?? (name.hasPrefix("class_") ? self[String(name.dropFirst(6))] : nil)
  }
}
