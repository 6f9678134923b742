import QueryModel
import Storage
import Values

extension Binder {
  mutating func row(_ node: ExpressionNode, _ depth: Int) throws(QueryError) -> RowExpression {
    guard depth < Binder.depthLimit else {
      throw QueryError(.tooComplex, "The expression is nested more than \(Binder.depthLimit) deep.", remedy: "Use fewer terms.")
    }
    switch node {
    case .constant(let value): return .constant(value)
    case .constants(let values): return .constants(values)
    case .path(let path): return try row(path)
    case .folded(let inner, _), .quantified(_, let inner): return try row(inner, depth + 1)
    case .arithmetic(let sign, let a, let b):
      let (left, right) = (try row(a, depth + 1), try row(b, depth + 1))
      for (operand, node) in [(left, a), (right, b)] where !isNumeric(operand) {
        throw QueryError(
          .typeMismatch, "'\(describe(node))' is no number.", remedy: "Compute with numbers.", path: describe(node))
      }
      return .arithmetic(sign, left, right)
    case .subquery(let subquery): return try row(subquery, depth)
    }
  }

  private func isNumeric(_ expression: RowExpression) -> Bool {
    switch expression {
    case .constant(let value): value.type.map(\.isNumber) ?? true
    case .constants: false
    case .path(let path): path.type.isNumber
    case .aggregate(let path, let aggregate): aggregate == .min || aggregate == .max ? path.type.isNumber : true
    case .length, .subquery, .arithmetic: true
    }
  }

  private mutating func row(_ subquery: Subquery, _ depth: Int) throws(QueryError) -> RowExpression {
    let (path, entry) = try steps(subquery.collection.components[...], subquery.collection)
    guard path.isMany, case .objects = path.end, let entry else {
      throw QueryError(
        .typeMismatch, "SUBQUERY needs a collection of objects, and '\(subquery.collection)' is none.",
        remedy: "Name a list of objects or an inverse.", path: subquery.collection.description)
    }
    var inner = try Binder(entry.name, in: catalog)
    inner.variables = variables.union([subquery.variable])
    let condition = try inner.bind(subquery.condition, depth: depth + 1).simplified()
    columns.formUnion(inner.columns)
    return .subquery(path, condition)
  }

  private mutating func row(_ path: PropertyPath) throws(QueryError) -> RowExpression {
    var components = path.components[...]
    if let first = components.first, variables.contains(first), components.count > 1 { components.removeFirst() }
    if components.last == "length", components.count > 1, let inner = try? lengthOperand(components.dropLast(), path) {
      return .length(.path(inner))
    }
    if let at = components.firstIndex(where: { CollectionAggregate(rawValue: $0 == "@size" ? "@count" : $0) != nil }) {
      let name = components[at] == "@size" ? "@count" : components[at]
      guard let aggregate = CollectionAggregate(rawValue: name) else { throw unknown(name, path) }
      return try row(aggregate, of: components[..<at], then: components[(at + 1)...], path)
    }
    let (bound, _) = try steps(components, path)
    return .path(bound)
  }

  private mutating func lengthOperand(_ components: ArraySlice<String>, _ path: PropertyPath) throws(QueryError) -> RowPath {
    let (bound, _) = try steps(components, path)
    guard bound.type == .string || bound.type == .data else { throw unknown("length", path) }
    return bound
  }

  /// `collection.@sum.property`, `list.@max`, `collection.property.@sum`.
  private mutating func row(
    _ aggregate: CollectionAggregate, of collection: ArraySlice<String>, then rest: ArraySlice<String>, _ path: PropertyPath
  ) throws(QueryError) -> RowExpression {
    let (whole, _) = try steps(collection, path)
    if aggregate == .count, !whole.isMany, whole.type == .string || whole.type == .data { return .length(.path(whole)) }
    guard whole.isMany else {
      throw QueryError(
        .needsCollection, "\(aggregate.rawValue) in '\(path)' stands behind one value, not a collection.",
        remedy: "Use it behind a list or an inverse.", path: path.description)
    }
    if aggregate == .count { return .aggregate(whole, .count) }
    let (bound, _) = rest.isEmpty ? (whole, nil) : try steps(collection + rest, path)
    guard bound.type.isNumber || (bound.type == .date && (aggregate == .min || aggregate == .max)) else {
      throw QueryError(
        .typeMismatch, "\(aggregate.rawValue) in '\(path)' cannot be taken of \(bound.type.rawValue).",
        remedy: "Name a numeric property behind it.", path: path.description)
    }
    return .aggregate(bound, aggregate)
  }

  private func unknown(_ name: String, _ path: PropertyPath) -> QueryError {
    QueryError(.unknownProperty, "'\(name)' in '\(path)' is unknown.", remedy: "Check the name.", path: path.description)
  }

  /// Resolves names one by one; also returns the type of the objects at the end where there are any.
  private mutating func steps(
    _ components: ArraySlice<String>, _ path: PropertyPath
  ) throws(QueryError) -> (RowPath, TableEntry?) {
    var result = RowPath()
    var entry: TableEntry? = table
    var at = components.startIndex
    while at < components.endIndex {
      let name = components[at]
      guard let here = entry else {
        throw QueryError(
          .typeMismatch, "'\(name)' in '\(path)' follows something that is no object.", remedy: "End the path before it.", path: path.description)
      }
      at += 1
      if name.lowercased() == "self", here[name] == nil { continue }
      if name == "@links" {
        entry = try backlinks(components, &at, here, &result, path)
        continue
      }
      guard let column = here[name] else {
        throw QueryError(
          .unknownProperty, "'\(here.name)' has no property '\(name)'.",
          remedy: "It has \(here.columns.map(\.schema.name).joined(separator: ", ")).", path: path.description)
      }
      let position = at < components.endIndex ? try elementPosition(components[at], path) : nil
      if position != nil { at += 1 }
      entry = try append(column, of: here, position, to: &result, path)
    }
    return (result, entry)
  }

  private mutating func append(
    _ column: ColumnEntry, of entry: TableEntry, _ position: ElementPosition?, to result: inout RowPath, _ path: PropertyPath
  ) throws(QueryError) -> TableEntry? {
    let id = entry.column(column.id)
    if position != nil, !column.schema.isList {
      throw QueryError(
        .typeMismatch, "'\(column.schema.name)' in '\(path)' is no list and has no positions.", remedy: "Leave the brackets out.", path: path.description)
    }
    switch column.schema.kind {
    case .scalar(.link):
      columns.insert(id)
      result.steps.append(.link(id))
      result.type = .link
      result.isWholeList = false
      return column.schema.target.flatMap { catalog[$0] }
    case .scalar(let type):
      columns.insert(id)
      result.end = .scalar(id)
      result.type = type
      result.isWholeList = false
      return nil
    case .list(.link):
      columns.insert(id)
      result.steps.append(.list(id, at: position))
      result.type = .link
      if position == nil { result.isMany = true }
      result.isWholeList = position == nil
      return column.schema.target.flatMap { catalog[$0] }
    case .list(let type):
      columns.insert(id)
      result.end = .elements(id, at: position)
      result.type = type
      if position == nil { result.isMany = true }
      result.isWholeList = position == nil
      return nil
    case .set, .map:
      throw QueryError(
        .notSupported, "'\(column.schema.name)' in '\(path)' is a \(column.schema.kind.label), which conditions cannot ask yet.",
        path: path.description)
    case .linkingObjects(let origin, let property):
      guard let source = catalog[origin], let forward = source[property] else { throw unknown(origin, path) }
      columns.insert(source.column(forward.id))
      result.steps.append(.inverse(source.column(forward.id)))
      result.type = .link
      result.isMany = true
      result.isWholeList = false
      return source
    }
  }

  /// `@links.Type.property`, or `@links` before `@count` for every type.
  private mutating func backlinks(
    _ components: ArraySlice<String>, _ at: inout Int, _ here: TableEntry, _ result: inout RowPath, _ path: PropertyPath
  ) throws(QueryError) -> TableEntry? {
    result.isMany = true
    result.type = .link
    result.isWholeList = false
    if at == components.endIndex {
      let all = catalog.tables.flatMap { table in
        table.columns.filter { $0.schema.isRelationship && $0.schema.target == here.name }.map { table.column($0.id) }
      }
      columns.formUnion(all)
      result.steps.append(.inverses(all))
      return nil
    }
    guard at + 1 < components.endIndex, let source = catalog[components[at]], let forward = source[components[at + 1]],
      forward.schema.isRelationship, forward.schema.target == here.name
    else { throw unknown(components[at...].prefix(2).joined(separator: "."), path) }
    at += 2
    columns.insert(source.column(forward.id))
    result.steps.append(.inverse(source.column(forward.id)))
    return source
  }

  private func elementPosition(_ component: String, _ path: PropertyPath) throws(QueryError) -> ElementPosition? {
    guard component.hasPrefix("["), component.hasSuffix("]") else { return nil }
    switch component.dropFirst().dropLast() {
    case "first": return .index(0)
    case "last": return .last
    case let text:
      guard let number = Int(text), number >= 0 else {
        throw QueryError(.notSupported, "'\(component)' in '\(path)' is no position.", remedy: "Use a number, FIRST or LAST.", path: path.description)
      }
      return .index(number)
    }
  }
}
