import StorageInterface
import StoreValues

/// Looks at the objects of a type in an export before anything is written. What an object lacks would become a default in the new store,
/// and what it has twice or under a name that its type does not have would be gone.
///
/// Every build has exported all stored properties of every object, whatever their values, so nothing that `Inspector.export` has
/// printed is refused. Optional properties and collections may be left out by who writes an export: they are null and empty.
struct ExportCheck {
  private let table: TableEntry
  private let names: Set<String>

  init(_ table: TableEntry) {
    self.table = table
    names = Set(table.columns.filter(\.schema.isStored).map(\.schema.name)).union([GraphText.id, GraphText.firstId])
  }

  /// Throws `.usage` with the place of what is wrong in the object, and what to do about it.
  func check(_ object: [String: JSONNode]) throws(InspectionError) {
    let key: String
    if case .int(let number)? = object[GraphText.id] ?? object[GraphText.firstId] { key = "object \(number)" } else { key = "an object" }
    if let name = object.keys.filter({ !names.contains($0) }).min() {
      throw InspectionError(
        .usage, "'\(table.name)' has no property '\(name)', which \(key) of the export has. Correct the name, or take the property out.")
    }
    for column in table.columns where column.schema.isStored {
      let place = Place(name: "'\(table.name).\(column.schema.name)' of \(key)", schema: column.schema)
      if let node = object[column.schema.name] {
        try place.check(node)
      } else if column.schema.isScalar, !column.schema.mayBeNull, !column.isRetired {
        throw InspectionError(.usage, "\(place.name) is not in the export, and is required. Write its value there.")
      }
    }
  }

  /// A property of an object.
  private struct Place {
    let name: String
    let schema: PropertySchema

    func check(_ node: JSONNode) throws(InspectionError) {
      switch (schema.kind, node) {
      case (.scalar(let type), _): _ = try value(node, type)
      case (.list(let type), .array(let nodes)): for node in nodes { _ = try value(node, type) }
      case (.set(let type), .array(let nodes)):
        var members: [Value] = []
        for node in nodes { members.append(try value(node, type)) }
        members.sort { $0.order(to: $1) == .before }
        if zip(members, members.dropFirst()).contains(where: { $0.order(to: $1) == .same }) {
          throw InspectionError(.usage, "\(name) has a member twice in the export, and is a set. Leave one of them.")
        }
      case (.map(let type), .array(let pairs)):
        var entries: [ValueMap.Entry] = []
        for pair in pairs {
          guard case .array(let parts) = pair, parts.count == 2, case .string(let key) = parts[0] else { throw wrong }
          entries.append(ValueMap.Entry(key, try value(parts[1], type)))
        }
        if ValueMap(entries).count < entries.count {
          throw InspectionError(.usage, "\(name) has a key twice in the export. Leave one of them.")
        }
      default: throw wrong
      }
    }

    private func value(_ node: JSONNode, _ type: ValueType) throws(InspectionError) -> Value {
      guard let value = GraphText.value(node, as: type), value.isNull || value.fits(type) else { throw wrong }
      if value.isNull, !schema.mayBeNull {
        throw InspectionError(.usage, "\(name) \(schema.isScalar ? "is" : "has") null in the export, and cannot be. Write a value there.")
      }
      return value
    }

    private var wrong: InspectionError {
      InspectionError(.usage, "\(name) has a value in the export that is no \(schema.kind.label). Write one there.")
    }
  }
}
