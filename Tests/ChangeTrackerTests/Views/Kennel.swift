import ChangeTracker
import QueryEngine
import QueryModel
import StorageInterface
import StorageReference
import StoreValues
import VivariumTestSupport

/// A small store of people and dogs with random contents and random commits.
struct Kennel {
  let engine: any StorageEngine
  let person: TableEntry
  let dog: TableEntry
  var random: SeededGenerator
  private(set) var people: [ObjectKey] = []
  private(set) var dogs: [ObjectKey] = []

  static let schema = Schema([
    ObjectSchema(
      "Person", .scalar("name", .string), .scalar("age", .int64), .scalar("nick", .string, optional: true),
      .scalar("score", .double), .scalar("notes", .string), .link("best", to: "Dog"),
      .list("dogs", ofLinksTo: "Dog")),
    ObjectSchema(
      "Dog", .scalar("name", .string), .scalar("weight", .int64), .inverse("owners", of: "Person", "dogs")),
  ])

  init(_ random: SeededGenerator) throws {
    engine = try ReferenceBackend().open(OpenOptions())
    let catalog = try engine.adopt(Kennel.schema)
    guard let person = catalog["Person"], let dog = catalog["Dog"] else {
      throw StorageError(.misuse, .statement, "No catalog.")
    }
    self.person = person
    self.dog = dog
    self.random = random
  }

  /// One commit of this many random changes.
  mutating func commit(changes: Int) throws {
    let write = RecordedTransaction(try engine.beginWrite(.never), origin: 1)
    defer { write.end() }
    for _ in 0..<changes { try change(write) }
    _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
  }

  private mutating func change(_ write: RecordedTransaction) throws {
    switch random.below(12) {
    case 0, 1: try addPerson(write)
    case 2: try addDog(write)
    case 3:
      if random.oneIn(2), !people.isEmpty { try write.delete(person.id, people.remove(at: random.below(people.count))) }
    case 4: if random.oneIn(2), !dogs.isEmpty { try write.delete(dog.id, dogs.remove(at: random.below(dogs.count))) }
    case 5: if let key = dogs.randomElement(using: &random) { try changeDog(write, key) }
    default: if let key = people.randomElement(using: &random) { try changePerson(write, key) }
    }
  }

  private mutating func addPerson(_ write: RecordedTransaction) throws {
    let key = try write.insert(RowBuffer(person))
    people.append(key)
    for _ in 0..<4 { try changePerson(write, key) }
  }

  private mutating func addDog(_ write: RecordedTransaction) throws {
    let key = try write.insert(RowBuffer(dog))
    dogs.append(key)
    try changeDog(write, key)
  }

  private mutating func changeDog(_ write: RecordedTransaction, _ key: ObjectKey) throws {
    if random.oneIn(2) {
      try write.set(dog.column(named: "name"), key, .string(name()))
    } else {
      try write.set(dog.column(named: "weight"), key, .int(Int64(random.below(5))))
    }
  }

  private mutating func changePerson(_ write: RecordedTransaction, _ key: ObjectKey) throws {
    switch random.below(7) {
    case 0: try write.set(person.column(named: "name"), key, .string(name()))
    case 1: try write.set(person.column(named: "age"), key, .int(Int64(random.below(6)) - 2))
    case 2: try write.set(person.column(named: "nick"), key, random.oneIn(3) ? .null : .string(name()))
    case 3:
      let score = [0, -0.0, 1.5, -2, .nan, .infinity][random.below(6)]
      try write.set(person.column(named: "score"), key, .double(score))
    case 4: try write.set(person.column(named: "notes"), key, .string(name()))
    case 5:
      let best = dogs.randomElement(using: &random)
      try write.set(person.column(named: "best"), key, random.oneIn(3) ? .null : best.map { .link($0) } ?? .null)
    default: try changeDogs(write, key)
    }
  }

  private mutating func changeDogs(_ write: RecordedTransaction, _ key: ObjectKey) throws {
    let column = person.column(named: "dogs")
    let count = try write.transaction.elementCount(column, key)
    if count > 0, random.oneIn(2) {
      let at = random.below(count)
      try write.edit(column, key, .remove(at..<at + 1))
    } else if let dog = dogs.randomElement(using: &random) {
      try write.edit(column, key, .insert(at: 0, [.link(dog)]))
    }
  }

  /// Few values, many of them with the same first 8 or 16 bytes.
  private mutating func name() -> String {
    let names = ["", "a", "Longname", "Longname A", "Longname B", "Longname\0B", "Ω", "Longname of sixteen", "Longname of sixty"]
    return names[random.below(names.count)]
  }
}

extension Kennel {
  /// A query as a view keeps it, matched by the engine that also answers it whole.
  func kept(_ query: Query) throws -> (question: KeptQuery, bound: BoundQuery)? {
    let catalog = try engine.beginRead().catalog
    let bound = try BoundQuery(query, in: catalog)
    let question = KeptQuery(query, in: catalog) { (key, reading) throws(StorageError) in
      try bound.matches(key, in: reading)
    }
    return question.map { ($0, bound) }
  }

  /// One commit.
  func write(_ body: (RecordedTransaction) throws -> Void) throws {
    let write = RecordedTransaction(try engine.beginWrite(.never), origin: 1)
    try body(write)
    _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
  }

  /// Commits after a version.
  func records(after version: Version, in reading: any StorageReading) throws -> [CommitRecord] {
    var records: [CommitRecord] = []
    try reading.history(after: version) { record in
      records.append(record)
      return .proceed
    }
    return records
  }
}
