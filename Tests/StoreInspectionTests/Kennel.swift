import Foundation
import StorageInterface
import StorageReference
import StoreInspection
import StoreValues
import VivariumTestSupport

/// A small store with every kind of property, and what a command prints about it.
struct Kennel {
  /// What Ann's list is in JSON.
  static let annsDogs = #"[{"$ref":"Dog-1"},{"$ref":"Dog-2"},{"$ref":"Dog-1"}]"#

  let engine: any StorageEngine
  let backend = ReferenceBackend(name: nil, seed: 7)

  static let identifier = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  static let schema = Schema([
    ObjectSchema(
      name: "Person",
      properties: [
        PropertySchema(name: "name", kind: .scalar(.string), isPrimaryKey: true),
        PropertySchema(name: "age", kind: .scalar(.int16), isOptional: true, isIndexed: true),
        PropertySchema(name: "best", kind: .scalar(.link), isOptional: true, target: "Dog"),
        PropertySchema(name: "dogs", kind: .list(.link), target: "Dog"),
        PropertySchema(name: "friend", kind: .scalar(.link), isOptional: true, target: "Person"),
      ],
      indexes: [IndexSchema(properties: ["age", "name"], isUnique: false)]),
    ObjectSchema(
      name: "Dog",
      properties: [
        PropertySchema(name: "weight", kind: .scalar(.double)),
        PropertySchema(name: "tag", kind: .scalar(.uuid)),
        PropertySchema(name: "born", kind: .scalar(.date), isOptional: true),
        PropertySchema(name: "photo", kind: .scalar(.data), isOptional: true),
        PropertySchema(name: "good", kind: .scalar(.bool)),
        PropertySchema(name: "marks", kind: .list(.float), isOptional: true),
        PropertySchema(name: "owners", kind: .linkingObjects(origin: "Person", property: "dogs")),
      ]),
    ObjectSchema(name: "Chip", properties: [PropertySchema(name: "number", kind: .scalar(.int8), isPrimaryKey: true)]),
  ])

  /// The schema and no objects.
  init(empty schema: Schema) throws {
    engine = try backend.open(OpenOptions())
    try Kennel.write(engine) { write in try write.setCatalog(write.catalog.adopting(schema).catalog) }
  }

  /// Two dogs, three people, a chip.
  init() throws {
    try self.init(empty: Kennel.schema)
    try Kennel.write(engine) { write in
      let dog = try Rows(write, "Dog")
      let rex = try dog.insert([
        "weight": .double(30.25), "tag": .uuid(Kennel.identifier), "good": .bool(true),
        "born": .date(Timestamp(secondsSinceReferenceDate: 123_456.789)), "photo": .data(Data([0, 255, 16])),
      ])
      let odd = try dog.insert(["weight": .double(.nan), "tag": .uuid(Kennel.identifier)])
      try dog.append([.float(1.5), .null, .float(-.infinity)], to: odd, "marks")
      let person = try Rows(write, "Person")
      let ann = try person.insert(["name": .string("Ann"), "age": .int(41), "best": .link(rex)])
      try person.append([.link(rex), .link(odd), .link(rex)], to: ann, "dogs")
      _ = try person.insert(["name": .string("B\"o,\nb"), "friend": .link(ann)])
      let empty = try person.insert(["name": .string(""), "age": .int(-1)])
      try person.append([.link(odd)], to: empty, "dogs")
      _ = try Rows(write, "Chip").insert(["number": .int(5)])
    }
  }

  static func write(_ engine: any StorageEngine, _ body: (any WriteTransaction) throws -> Void) throws {
    let write = try engine.beginWrite(.never)
    defer { write.end() }
    try body(write)
    _ = try write.commit(CommitRecord(author: "keeper", timeMilliseconds: 1_795_251_233_593), .full)
  }

  /// What a command prints.
  func printed(_ format: OutputFormat, _ command: (Inspector) throws -> Void) throws -> String {
    let output = StringOutput()
    try command(Inspector(engine, location: "kennel", format: format, output: output))
    return output.text
  }
}

/// Inserts by property name.
struct Rows {
  let write: any WriteTransaction
  let table: TableEntry
  private let row: RowBuffer

  init(_ write: any WriteTransaction, _ type: String) throws {
    guard let table = write.catalog[type] else { throw StorageError(.misuse, .statement, "no \(type)") }
    self.write = write
    self.table = table
    row = RowBuffer(table)
  }

  func insert(_ values: [String: Value]) throws -> ObjectKey {
    row.reset()
    for (name, value) in values {
      guard let column = table[name], let slot = table.slot(of: column.id) else {
        throw StorageError(.misuse, .statement, "no \(name)")
      }
      row.set(slot, value)
    }
    return try write.insert(row)
  }

  func append(_ values: [Value], to owner: ObjectKey, _ property: String) throws {
    guard let column = table[property] else { throw StorageError(.misuse, .statement, "no \(property)") }
    try write.edit(table.column(column.id), owner, .insert(at: 0, values))
  }
}
