import ChangeTracker
import QueryEngine
import QueryModel
import StorageInterface
import StorageMemory
import SyncClient
import SyncModel
import Vivarium

/// A store in memory in which objects are looked at as a device would have them, one trial at a time; nothing of a trial stays.
struct ObjectTrial: Sendable {
  private let file: SharedFile

  init(_ models: [any SchemaDescribing.Type]) throws(ObjectRuleError) {
    do {
      file = try Store(StoreConfiguration(backend: MemoryBackend(), models: models), isolation: nil).file
    } catch { throw .models("\(error)") }
  }

  // MARK: conditions

  /// Throws if a condition is wrong, or reads what is not in the object.
  func check(_ condition: PredicateNode, of type: String) throws(ObjectRuleError) {
    let catalog: Catalog
    do { catalog = try file.read { $0.catalog } } catch { throw .models("\(error)") }
    guard let table = catalog[type], !table.isEmbedded else {
      throw .models("'\(type)' is not among them, or its objects are embedded in others.")
    }
    do throws(QueryError) { _ = try BoundQuery(Query(type: type, condition: condition), in: catalog) } catch {
      throw .condition(type, "\(error)")
    }
    var reach: String?
    _ = condition.mappingExpressions { expression in
      switch expression {
      case .path(let path): if leaves(path, table, catalog) { reach = path.description }
      case .subquery: reach = "SUBQUERY"
      case .object, .mixed: reach = "SELF"
      default: break
      }
      return expression
    }
    if let reach { throw .reach(type, reach) }
  }

  /// Whether a path leads out of the object, or to what is computed from others.
  private func leaves(_ path: PropertyPath, _ table: TableEntry, _ catalog: Catalog) -> Bool {
    var table = table
    for name in path.components {
      // Positions, keys and operators of a collection; `@links` leads to other objects.
      if name.hasPrefix("[") { continue }
      if name.hasPrefix("@") { return name.lowercased().hasPrefix("@link") }
      // Behind a value there are its fields, and "SELF" is the object as a link.
      guard let column = table[name] else { return name == "SELF" }
      // A loose value may be a link.
      guard column.schema.isStored, column.schema.derivation == nil, column.schema.valueType != .mixed else { return true }
      guard column.schema.isRelationship else { continue }
      guard let target = column.schema.target.flatMap({ catalog[$0] }), target.isEmbedded else { return true }
      table = target
    }
    return false
  }

  // MARK: trials

  /// The first of some conditions that an object does not meet; nil if there is none. An object without a state is not looked at.
  func firstFailure(
    of objects: [ObjectIdentity], _ states: [ObjectIdentity: ObjectState], _ conditions: [(type: Name, condition: PredicateNode)]
  ) throws -> Int? {
    try file.tryOut { write in
      let places = try RemoteChanges.places(of: states, in: write)
      let catalog = write.transaction.catalog
      var bound: [Int: BoundQuery] = [:]
      for object in objects where states[object] != nil {
        for (index, condition) in conditions.enumerated() where condition.type == object.className {
          let query =
            try bound[index] ?? BoundQuery(Query(type: condition.type.text, condition: condition.condition), in: catalog)
          bound[index] = query
          guard let place = places[object], try query.matches(place.key, in: write.transaction) else { return index }
        }
      }
      return nil
    }
  }
}
