import QueryEngine
import StorageInterface
import StoreValues

extension StoreError {
  static func notInWrite(_ what: String) -> StoreError {
    StoreError(.notInWrite, "\(what) needs an open write.", remedy: "Do it inside 'store.write { … }'.")
  }

  static func readOnlyOperation(_ what: String) -> StoreError {
    StoreError(
      .readOnlyOperation, "\(what) was tried inside an operation that only reads.",
      remedy: "Make it one that writes.")
  }

  static func objectDeleted(type: String, key: Int64) -> StoreError {
    StoreError(
      .objectDeleted, "The \(type) object #\(key) is not in the store any more.",
      remedy: "Ask 'isInvalidated' before reading an object that may be gone.",
      details: ["type": type, "key": "\(key)"])
  }

  static func embeddedAlone(_ type: String) -> StoreError {
    StoreError(
      .embeddedAlone, "'\(type)' is embedded: its objects are in the store as parts of others alone.",
      remedy: "Set it as a property of its owner, or append it to a list of it.", details: ["type": type])
  }

  static func alreadyOwned(_ type: String) -> StoreError {
    StoreError(
      .alreadyOwned, "The \(type) object belongs to another object already, and is embedded in one alone.",
      remedy: "Take it out there first, or link a copy: 'snapshot().unmanagedCopy()'.", details: ["type": type])
  }

  static func missingValue(type: String, property: String) -> StoreError {
    StoreError(
      .missingValue, "'\(type).\(property)' has no value.", remedy: "Set it, or give the property a default.",
      details: ["type": type, "property": property])
  }

  static func primaryKeyIsFixed(type: String, property: String) -> StoreError {
    StoreError(
      .primaryKeyIsFixed, "'\(type).\(property)' is the primary key of an object in a store and cannot change.",
      remedy: "Add a new object and delete the old one.", details: ["type": type, "property": property])
  }

  static func derivedIsFixed(type: String, property: String) -> StoreError {
    StoreError(
      .typeMismatch, "'\(type).\(property)' follows from others and cannot be set.",
      details: ["type": type, "property": property])
  }

  static func wrongStore(_ what: String) -> StoreError {
    StoreError(
      .wrongStore, "\(what) is not of this store.",
      remedy: "Find it here by its primary key, or copy its values into a new object: 'snapshot().unmanagedCopy()'.")
  }

  static func unknownType(_ type: String) -> StoreError {
    StoreError(
      .unknownType, "The store has no type '\(type)'.", remedy: "List it in the configuration's models.",
      details: ["type": type])
  }

  static func unknownProperty(_ property: String, of type: String) -> StoreError {
    StoreError(
      .unknownProperty, "'\(type)' has no property '\(property)'.", details: ["type": type, "property": property])
  }

  static func schemaMismatch(_ faults: [SchemaFault]) -> StoreError {
    let list = faults.map(\.description).joined(separator: "; ")
    return StoreError(
      .schemaMismatch, "The models cannot be used with this store: \(list).",
      remedy: "Mend the models, or migrate the file.", details: ["faults": list])
  }

  static func indexOutOfRange(_ index: Int, count: Int) -> StoreError {
    StoreError(
      .indexOutOfRange, "Index \(index) is outside a collection of \(count).",
      details: ["index": "\(index)", "count": "\(count)"])
  }
}

extension StoreError {
  /// An engine's error as a store error. Codes keep their names.
  init(_ error: StorageError) {
    self.init(
      Code(rawValue: error.code.rawValue), error.message, remedy: error.remedy.isEmpty ? nil : error.remedy,
      underlying: error)
  }

  init(_ error: StorageError, type: String, key: Int64) {
    self = error.code == .objectDeleted ? .objectDeleted(type: type, key: key) : StoreError(error)
  }

  /// A store error that names the properties of a violated index.
  init(_ error: StorageError, in catalog: Catalog, type: String, key: Int64? = nil, value: Value? = nil) {
    guard error.code == .uniqueViolation, let entry = catalog[type],
      let index = entry.indexes.first(where: { $0.id == error.index })
    else {
      self = key.map { StoreError(error, type: type, key: $0) } ?? StoreError(error)
      return
    }
    let properties = index.properties.compactMap { entry[$0]?.schema.name }.joined(separator: ", ")
    var details = ["type": type, "property": properties]
    if let other = error.conflictingKey { details["conflictingKey"] = "\(other.rawValue)" }
    if index.id == entry.primaryIndex?.id {
      if let value { details["key"] = "\(value)" }
      self.init(
        .primaryKeyExists, "There is a \(type) with the primary key \(value.map { "\($0)" } ?? "given") already.",
        remedy: "Use 'add(_:update: .modified)' to change it.", details: details, underlying: error)
    } else {
      self.init(
        .uniqueViolation, "Another \(type) has the same \(properties), which must be unique.", details: details,
        underlying: error)
    }
  }

  init(_ error: QueryError) {
    if let cause = error.cause {
      self.init(cause)
      return
    }
    var details = ["reason": error.code.rawValue]
    details["path"] = error.path
    details["position"] = error.position.map(String.init)
    self.init(
      error.code == .overflow ? .overflow : error.code == .wrongStore ? .wrongStore : .invalidQuery,
      error.message + (error.position.map { " At byte \($0)." } ?? ""), remedy: error.remedy.isEmpty ? nil : error.remedy,
      details: details, underlying: error)
  }
}
