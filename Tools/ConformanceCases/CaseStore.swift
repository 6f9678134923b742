import Foundation
import StorageInterface
import StoreValues

/// A store with the objects of a suite.
final class CaseStore {
  let engine: any StorageEngine
  let schema: CaseSchema
  let catalog: Catalog
  /// The keys of each type's rows.
  private(set) var keys: [String: [ObjectKey]] = [:]
  /// Row numbers by type and key.
  private(set) var rows: [String: [Int64: Int]] = [:]

  init(_ engine: any StorageEngine, _ schema: CaseSchema, _ objects: JSONValue) throws {
    self.engine = engine
    self.schema = schema
    let write = try engine.beginWrite(.after(.seconds(30)))
    defer { write.end() }
    do {
      catalog = try write.catalog.adopting(schema.schema).catalog
    } catch {
      throw Inexpressible("the schema: " + error.faults.map(\.description).joined(separator: "; "))
    }
    try write.setCatalog(catalog)
    for type in objects.members ?? [] {
      for row in type.value.array ?? [] { try insert(row, type.name, write) }
    }
    for type in objects.members ?? [] {
      for (number, row) in (type.value.array ?? []).enumerated() { try fill(row, number, type.name, write) }
    }
    _ = try write.commit(CommitRecord(changedCatalog: true), .relaxed)
  }

  /// The object with what leads nowhere.
  private func insert(_ row: JSONValue, _ type: String, _ write: any WriteTransaction) throws {
    guard let table = catalog[type] else { throw Inexpressible("objects of an unknown type '\(type)'") }
    let buffer = RowBuffer(table)
    for member in row.members ?? [] {
      guard let property = schema.types[type]?[member.name], let slot = table.columns.firstIndex(where: { $0.schema.name == member.name })
      else { throw Inexpressible("a value of an unknown property '\(member.name)'") }
      guard case .scalar(let scalar) = property.kind, !scalar.mayLink else { continue }
      buffer.set(slot, try CaseValue.value(member.value, as: scalar, links: link))
    }
    let key = try write.insert(buffer)
    rows[type, default: [:]][key.rawValue] = keys[type, default: []].count
    keys[type, default: []].append(key)
  }

  /// Its links and collections.
  private func fill(_ row: JSONValue, _ number: Int, _ type: String, _ write: any WriteTransaction) throws {
    guard let table = catalog[type], let key = keys[type]?[number] else { return }
    for member in row.members ?? [] {
      guard let property = schema.types[type]?[member.name], let column = table[member.name] else { continue }
      let id = table.column(column.id)
      switch property.kind {
      case .scalar(let type) where type.mayLink:
        if case .null = member.value { continue }
        try write.set(id, key, try value(member.value, as: type))
      case .list(let element):
        let values = try (member.value.array ?? []).map { try value($0, as: element) }
        if !values.isEmpty { try write.edit(id, key, .insert(at: 0, values)) }
      case .set(let element):
        for item in member.value.array ?? [] { _ = try write.insert(member: try value(item, as: element), into: id, key) }
      case .map(let element):
        for entry in member.value.members ?? [] {
          _ = try write.set(try value(entry.value, as: element), forKey: entry.name, in: id, key)
        }
      default: continue
      }
    }
  }

  /// `["Type", row]`.
  func object(_ json: JSONValue) throws -> (type: String, key: ObjectKey) {
    guard let parts = json.array, parts.count == 2, let type = parts[0].string, let row = parts[1].int,
      let keys = keys[type], keys.indices.contains(row)
    else { throw Inexpressible("a link \(json)") }
    return (type, keys[row])
  }

  /// A link says its type only in mixed values.
  private func value(_ json: JSONValue, as type: ValueType) throws -> Value {
    try CaseValue.value(json, as: type) { json in
      let object = try self.object(json)
      guard type == .mixed, let table = catalog[object.type] else { return .link(object.key) }
      return .object(ObjectLink(table.id, object.key))
    }
  }

  private func link(_ json: JSONValue) throws -> Value { .link(try object(json).key) }
}
