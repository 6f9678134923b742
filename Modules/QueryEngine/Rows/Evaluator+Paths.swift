import QueryModel
import StorageInterface
import StoreValues

extension Evaluator {
  /// The values of a path, in groups: one group per collection, owner by owner. Values that are not in a collection of their
  /// own form one group together. Empty if no collection is reached.
  func groups(_ path: RowwisePath, _ key: ObjectKey) throws(StorageError) -> [[Value]] {
    let owners = try objects(path.steps[...], key, eachOnce: path.asksEachOnce)
    var groups: [[Value]]
    switch path.end {
    case .objects: groups = [owners.map { owner in owner.map { link($0, path.target) } ?? .null }]
    case .scalar(let column):
      var values: [Value] = []
      for owner in owners {
        if let owner { values.append(try value(column, owner, path, key)) } else { values.append(.null) }
      }
      groups = [values]
    case .elements, .links, .keys, .value: groups = try collections(path, owners, key)
    }
    for step in path.inside {
      var next: [[Value]] = []
      for group in groups { next += try inside(step, group) }
      groups = next
    }
    switch path.transform {
    case .none: return groups
    case .length: return groups.map { $0.compactMap(Evaluator.length) }
    case .typeName: return groups.map { $0.map { TypeNames(of: $0).value } }
    }
  }

  /// The elements owner by owner. A null or deleted owner gives a null if one element was asked for, else an empty group.
  private func collections(_ path: RowwisePath, _ owners: [ObjectKey?], _ key: ObjectKey) throws(StorageError) -> [[Value]] {
    var groups: [[Value]] = []
    for owner in owners {
      var group: [Value] = []
      if let owner {
        group = try ifLiving([]) { () throws(StorageError) in
          switch path.end {
          case .elements(let column, let position): return try elements(column, owner, position)
          case .links(let column): return try storage.values(column, owner, 0..<Int.max).map { linked($0, path.target) }
          case .keys(let column): return try storage.entries(column, owner, 0..<Int.max).map { .string($0.key) }
          case .value(let column, let name): return [try storage.value(forKey: name, in: column, owner) ?? .null]
          default: return []
          }
        }
      }
      switch path.end {
      case .value where group.isEmpty: groups.append([.null])
      case .elements(let column, .some) where group.isEmpty:
        // A position past the end reads as null; an empty list has no elements.
        let isEmpty = try owner.map { owner throws(StorageError) in
          try ifLiving(true) { () throws(StorageError) in try storage.elementCount(column, owner) == 0 }
        }
        groups.append(isEmpty == false ? [.null] : [])
      default: groups.append(group)
      }
    }
    return groups
  }

  private func value(_ column: ColumnID, _ owner: ObjectKey, _ path: RowwisePath, _ key: ObjectKey) throws(StorageError) -> Value {
    if path.steps.isEmpty { return try storage.value(column, owner) }
    return try ifLiving(.null) { () throws(StorageError) in try storage.value(column, owner) }
  }

  /// The length of strings and data in bytes; 0 for null, nil for other values.
  private static func length(_ value: Value) -> Value? {
    switch value {
    case .null: .int(0)
    case .string(let text): .int(Int64(text.utf8.count))
    case .data(let data): .int(Int64(data.count))
    default: nil
    }
  }

  /// One step into mixed values. A missing key of a map reads as null; a value that is not a map, or not a list, gives nothing.
  private func inside(_ step: MixedStep, _ group: [Value]) throws(StorageError) -> [[Value]] {
    switch step {
    case .all:
      return group.compactMap { value in
        switch value {
        case .list(let elements): elements
        case .map(let map): map.entries.map(\.value)
        default: nil
        }
      }
    case .keys:
      return group.compactMap { if case .map(let map) = $0 { map.entries.map { .string($0.key) } } else { nil } }
    case .position(let position):
      return [
        group.compactMap { value in
          guard case .list(let elements) = value else { return nil }
          switch position {
          case .index(let index): return elements.indices.contains(index) ? elements[index] : nil
          case .last: return elements.last
          }
        }
      ]
    case .key(let name):
      var values: [Value] = []
      for value in group {
        switch value {
        case .map(let map): values.append(name == "@values" ? .null : map[name] ?? .null)
        case .object(let link): if let found = try property(name, of: link) { values.append(found) }
        default: break
        }
      }
      return [name == "@values" ? [] : values]
    }
  }

  /// A scalar property of an object of any type; nil if its type has no such property.
  private func property(_ name: String, of link: ObjectLink) throws(StorageError) -> Value? {
    guard let table = storage.catalog[link.table], let column = table[name], column.schema.isScalar else { return nil }
    let found = try ifLiving(Value?.none) { () throws(StorageError) in try storage.value(table.column(column.id), link.key) }
    return found.map { linked($0, column.schema.target.flatMap { storage.catalog[$0]?.id }) }
  }

  private func link(_ key: ObjectKey, _ target: TableID?) -> Value { target.map { .object(ObjectLink($0, key)) } ?? .link(key) }

  private func linked(_ value: Value, _ target: TableID?) -> Value {
    if case .link(let key) = value { return link(key, target) }
    return value
  }

  func elements(_ column: ColumnID, _ owner: ObjectKey, _ position: ElementPosition?) throws(StorageError) -> [Value] {
    switch position {
    case nil: return try storage.values(column, owner, 0..<Int.max)
    case .index(let index):
      guard index < Int.max else { return [] }
      return try storage.values(column, owner, index..<index + 1)
    case .last:
      let count = try storage.elementCount(column, owner)
      return count == 0 ? [] : try storage.values(column, owner, count - 1..<count)
    }
  }
}

extension Evaluator {
  /// The objects that the steps of a path lead to. One nil if all steps are to-one and a link is null; behind a collection,
  /// null links are skipped. `eachOnce` skips objects reached before, so that the result of a path over many relationships
  /// never becomes longer than its table.
  func objects(
    _ steps: ArraySlice<RowwisePath.Step>, _ key: ObjectKey, eachOnce: Bool = false
  ) throws(StorageError) -> [ObjectKey?] {
    var current: [ObjectKey?] = [key]
    var isMany = false
    for (i, step) in steps.enumerated() {
      if step.isMany { isMany = true }
      var next: [ObjectKey?] = []
      var seen: Set<ObjectKey?> = []
      for object in current {
        guard let object else {
          if !step.isMany { next.append(nil) }
          continue
        }
        let found = try i == 0 ? follow(step, object) : ifLiving([nil]) { () throws(StorageError) in try follow(step, object) }
        if eachOnce, current.count > 1 { next += found.filter { seen.insert($0).inserted } } else { next += found }
      }
      if isMany { next.removeAll { $0 == nil } }
      current = next
    }
    return current
  }

  func follow(_ step: RowwisePath.Step, _ key: ObjectKey) throws(StorageError) -> [ObjectKey?] {
    func links(_ values: [Value]) -> [ObjectKey?] {
      values.map { if case .link(let target) = $0 { target } else { nil } }
    }
    switch step {
    case .link(let column): return [try storage.word(column, key).map { ObjectKey($0) }]
    case .list(let column, let position):
      let found = links(try elements(column, key, position))
      return found.isEmpty && position != nil ? [nil] : found
    case .set(let column): return links(try storage.values(column, key, 0..<Int.max))
    case .map(let column, nil): return links(try storage.values(column, key, 0..<Int.max)).filter { $0 != nil }
    case .map(let column, let name?): return links([try storage.value(forKey: name, in: column, key) ?? .null])
    case .inverse(let columns, let table): return try sources(columns, ObjectLink(table, key))
    case .source(let columns, let table, let position): return [try source(columns, ObjectLink(table, key), position)]
    }
  }

  /// The object at a position among those that point to an object; nil if there are fewer. Reads none beyond it.
  private func source(
    _ columns: [ColumnID], _ key: ObjectLink, _ position: ElementPosition
  ) throws(StorageError) -> ObjectKey? {
    var (passed, found) = (0, Int64?.none)
    for column in columns {
      try storage.sources(of: key, through: column) { block in
        switch position {
        case .last: found = block.last ?? found
        case .index(let index):
          if index - passed < block.count {
            found = block[index - passed]
            return .stop
          }
        }
        passed += block.count
        return .proceed
      }
      if found != nil, case .index = position { break }
    }
    return found.map { ObjectKey($0) }
  }

  private func sources(_ columns: [ColumnID], _ key: ObjectLink) throws(StorageError) -> [ObjectKey?] {
    var result: [ObjectKey?] = []
    for column in columns {
      try storage.sources(of: key, through: column) { block in
        for source in block { result.append(ObjectKey(source)) }
        return .proceed
      }
    }
    return result
  }

  /// Reads an object that a link led to; returns `gone` if it is deleted.
  func ifLiving<R>(_ gone: R, _ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    do throws(StorageError) { return try body() } catch {
      if error.code == .objectDeleted { return gone }
      throw error
    }
  }
}
