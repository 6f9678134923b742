import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

/// An open store with the suite's types, and short ways to ask it.
struct ConformanceStore: Sendable {
  let subject: ConformanceSubject
  let backend: any StorageBackend
  let engine: any StorageEngine
  let person: TableEntry
  let pet: TableEntry
  let zoo: TableEntry

  init(_ subject: ConformanceSubject, _ options: OpenOptions = OpenOptions()) throws {
    try self.init(subject, subject.makeBackend(), options)
  }

  init(_ subject: ConformanceSubject, _ backend: any StorageBackend, _ options: OpenOptions = OpenOptions()) throws {
    self.subject = subject
    self.backend = backend
    engine = try backend.open(options)
    var catalog = try Self.reading(engine) { $0.catalog }
    if catalog["Person"] == nil, !options.isReadOnly { catalog = try engine.adopt(Self.schema) }
    person = try unwrap(catalog["Person"], "table Person")
    pet = try unwrap(catalog["Pet"], "table Pet")
    zoo = try unwrap(catalog["Zoo"], "table Zoo")
  }

  private static func reading<T>(_ engine: any StorageEngine, _ body: (any ReadTransaction) throws -> T) throws -> T {
    let read = try engine.beginRead()
    defer { read.end() }
    return try body(read)
  }

  /// Reads the newest version.
  func read<T>(_ body: (any ReadTransaction) throws -> T) throws -> T { try Self.reading(engine, body) }

  /// Writes and commits.
  @discardableResult
  func write<T>(_ body: (any WriteTransaction) throws -> T) throws -> T {
    let write = try engine.beginWrite(.after(.seconds(600)))
    defer { write.end() }
    let result = try body(write)
    _ = try write.commit(CommitRecord(), .relaxed)
    return result
  }

  /// Writes and rolls back.
  @discardableResult
  func writeInVain<T>(_ body: (any WriteTransaction) throws -> T) throws -> T {
    let write = try engine.beginWrite(.after(.seconds(600)))
    defer { write.end() }
    return try body(write)
  }

  /// Closes the engine and opens the same place again. Only for backends whose data outlives the engine.
  func reopened(_ options: OpenOptions = OpenOptions()) throws -> ConformanceStore {
    engine.close()
    return try ConformanceStore(subject, backend, options)
  }
}

extension ConformanceStore {
  static let schema = Schema([person, pet, zoo])

  static let person = ObjectSchema(
    "Person", .scalar("id", .int64, primaryKey: true), .scalar("name", .string, indexed: true),
    .scalar("age", .int64, optional: true, indexed: true), .scalar("email", .string, optional: true, unique: true),
    .scalar("score", .double, optional: true, indexed: true), .scalar("born", .date, optional: true, indexed: true),
    .scalar("tag", .uuid, optional: true, indexed: true), .scalar("photo", .data, optional: true, indexed: true),
    .scalar("weight", .float, optional: true, indexed: true), .scalar("isNice", .bool, optional: true, indexed: true),
    .scalar("rank", .int32), .link("best", to: "Person", indexed: true), .list("friends", ofLinksTo: "Person"),
    .list("pets", ofLinksTo: "Pet"), .list("numbers", of: .int64), .list("words", of: .string, optional: true),
    .inverse("admirers", of: "Person", "best"), .inverse("befriendedBy", of: "Person", "friends"),
    indexes: [
      IndexSchema(properties: ["name", "age"], isUnique: false),
      IndexSchema(properties: ["age", "score", "name"], isUnique: false),
      IndexSchema(properties: ["score", "isNice"], isUnique: true),
    ])

  static let pet = ObjectSchema("Pet", .scalar("name", .string), .link("owner", to: "Person"))

  /// A column of every type, required and optional, and a list of every type, required and optional.
  static let zoo: ObjectSchema = {
    var properties: [PropertySchema] = []
    for type in ValueType.allCases {
      let target = type == .link ? "Person" : nil
      properties.append(
        PropertySchema(name: "\(type.rawValue)", kind: .scalar(type), isOptional: type == .link || type == .mixed, target: target))
      if type != .link {
        properties.append(PropertySchema(name: "\(type.rawValue)Maybe", kind: .scalar(type), isOptional: true))
      }
      properties.append(PropertySchema(name: "\(type.rawValue)List", kind: .list(type), isOptional: type == .mixed, target: target))
      properties.append(
        PropertySchema(name: "\(type.rawValue)MaybeList", kind: .list(type), isOptional: true, target: target))
    }
    return ObjectSchema(name: "Zoo", properties: properties)
  }()

  /// Adds people with the ids from `ids` and values that follow from the id.
  @discardableResult
  func addPeople(_ ids: Range<Int>, _ write: any WriteTransaction) throws -> [ObjectKey] {
    try ids.map { id in try write.insert(person, Self.values(ofPerson: id)) }
  }

  static func values(ofPerson id: Int) -> [String: Value] {
    [
      "id": .int(Int64(id)), "name": .string("name \(id % 10)"), "age": id % 4 == 0 ? .null : .int(Int64(id % 50)),
      "score": id % 3 == 0 ? .null : .double(Double(id) / 8), "rank": .int(Int64(id * 3)),
    ]
  }
}
