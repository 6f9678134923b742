/// Dictionaries, lists and bare values as objects of a store: a dictionary's members become properties, a dictionary
/// in it an object behind a link, a list a list. A bare value is the only property of its object, named as conditions
/// name it: SELF. A list of dictionaries has, as with key-value coding, for each of their keys the list of its values.
struct PlainObjects {
  static let root = "Item"

  private var types: [String: [(name: String, type: String)]] = [root: [("unused", "int?")]]
  private var objects: [String: [JSONValue]] = [root: []]

  var schema: JSONValue {
    .object(
      types.sorted { $0.key < $1.key }.map { type in
        .init(name: type.key, value: .object(type.value.map { .init(name: $0.name, value: .string($0.type)) }))
      })
  }

  var rows: JSONValue {
    .object(objects.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .array($0.value)) })
  }

  /// False when the path cannot be made to exist.
  mutating func addMissing(_ path: String) -> Bool {
    guard !path.contains("."), !path.contains("@"), types[Self.root]?.contains(where: { $0.name == path }) == false else {
      return false
    }
    types[Self.root]?.append((path, "string?"))
    return true
  }

  mutating func add(_ value: JSONValue) throws {
    switch value {
    case .object, .null: _ = try add(value, as: Self.root)
    case .array(let elements) where elements.contains(where: { $0.members != nil }):
      var columns: [JSONValue.Member] = []
      for name in Set(elements.flatMap { ($0.members ?? []).map(\.name) }).sorted() {
        columns.append(.init(name: name, value: .array(elements.compactMap { $0[name] })))
      }
      _ = try add(.object(columns), as: Self.root)
    default: _ = try add(.object([.init(name: "SELF", value: value)]), as: Self.root)
    }
  }

  /// The row's number among the objects of its type.
  private mutating func add(_ value: JSONValue, as type: String) throws -> Int {
    var row: [JSONValue.Member] = []
    for member in value.members ?? [] {
      if member.value.members != nil {
        let inner = type + "." + member.name
        declare(member.name, "link:" + inner, in: type)
        if types[inner] == nil { types[inner] = [("unused", "int?")] }
        let number = try add(member.value, as: inner)
        let link = JSONValue.array([.string(inner), .int(Int64(number))])
        row.append(.init(name: member.name, value: .object([.init(name: "$link", value: link)])))
        continue
      }
      if case .null = member.value { continue }
      if let elements = member.value.array {
        declare(member.name, "list<\(try scalar(elements.first ?? .string("")))>", in: type)
      } else {
        declare(member.name, try scalar(member.value), in: type)
      }
      row.append(member)
    }
    objects[type, default: []].append(.object(row))
    return (objects[type]?.count ?? 1) - 1
  }

  private mutating func declare(_ name: String, _ type: String, in owner: String) {
    if types[owner]?.contains(where: { $0.name == name }) == true { return }
    types[owner, default: []].append((name, type))
  }

  private func scalar(_ value: JSONValue) throws -> String {
    switch value {
    case .bool: "bool?"
    case .int: "int?"
    case .double: "double?"
    case .string: "string?"
    default: throw Inexpressible("a value \(value) in an object")
    }
  }
}
