import Foundation
import StorageInterface
import StorageReference
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

/// Files as Realm Studio saves them, made by hand after what its exporter does.
@Suite struct RealmImportTests {
  static let schema = Schema([
    ObjectSchema(
      name: "Person",
      properties: [
        PropertySchema(name: "_id", kind: .scalar(.objectId), isPrimaryKey: true),
        PropertySchema(name: "name", kind: .scalar(.string), isIndexed: true),
        PropertySchema(name: "age", kind: .scalar(.int64)),
        PropertySchema(name: "height", kind: .scalar(.double)),
        PropertySchema(name: "nick", kind: .scalar(.string), isOptional: true),
        PropertySchema(name: "born", kind: .scalar(.date), isOptional: true),
        PropertySchema(name: "photo", kind: .scalar(.data)),
        PropertySchema(name: "balance", kind: .scalar(.decimal)),
        PropertySchema(name: "token", kind: .scalar(.uuid)),
        PropertySchema(name: "extra", kind: .scalar(.mixed), isOptional: true),
        PropertySchema(name: "tags", kind: .set(.string)),
        PropertySchema(name: "scores", kind: .list(.int64), isOptional: true),
        PropertySchema(name: "phones", kind: .map(.string)),
        PropertySchema(name: "best", kind: .scalar(.link), target: "Dog"),
        PropertySchema(name: "dogs", kind: .list(.link), target: "Dog"),
        PropertySchema(name: "dogCount", kind: .scalar(.int64), derivation: Derivation(.count, over: "dogs")),
        PropertySchema(name: "home", kind: .scalar(.link), target: "Address"),
        PropertySchema(name: "friends", kind: .list(.link), target: "Person"),
      ]),
    ObjectSchema(
      name: "Dog",
      properties: [
        PropertySchema(name: "name", kind: .scalar(.string)),
        PropertySchema(name: "owners", kind: .linkingObjects(origin: "Person", property: "dogs")),
      ]),
    ObjectSchema(name: "Address", properties: [PropertySchema(name: "city", kind: .scalar(.string))], isEmbedded: true),
  ])

  /// No rings: everything is written in full wherever it is linked.
  private static let plain = """
    {
      "Person": [
        {
          "_id": "5f086d00ddf69c48082eb63b", "name": "Jane \\u00e9", "age": 42, "height": 1.75, "nick": null,
          "born": "1980-02-29T12:30:00.250000001Z", "photo": "AAH/", "balance": {"$numberDecimal": "12.50"},
          "token": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "extra": {"a": [1, "x", null, {"$numberDecimal": "0.1"}]},
          "tags": ["b", "a"], "scores": [3, null, 3], "phones": {"home": "1", "": "2"},
          "best": {"name": "Rex"}, "dogs": [{"name": "Fido"}, {"name": "Rex"}, {"name": "Fido"}],
          "home": {"city": "Ghent"}, "friends": []
        },
        {
          "_id": "5f086d00ddf69c48082eb63d", "name": "Ann", "age": 7.0, "height": null, "nick": "", "born": null, "photo": "",
          "balance": {"$numberDecimal": "-1E+3"}, "token": "6BA7B810-9DAD-11D1-80B4-00C04FD430C9", "extra": true,
          "tags": [], "scores": [], "phones": {}, "best": null, "dogs": [{"name": "Rex"}], "home": {"city": "Ghent"},
          "friends": [{
            "_id": "5f086d00ddf69c48082eb63b", "name": "Jane \\u00e9", "age": 42
          }]
        }
      ],
      "Dog": [{"name": "Rex"}, {"name": "Fido"}, {"name": "Rex"}]
    }
    """

  private func imported(_ json: String, _ schema: Schema = schema) throws -> any ReadTransaction {
    let engine = try ReferenceBackend().open(OpenOptions())
    try RealmImport.run(Data(json.utf8), schema: schema, into: engine)
    return try engine.beginRead()
  }

  private func status(_ json: String, _ schema: Schema = schema) -> CommandStatus? {
    do {
      _ = try imported(json, schema)
      return nil
    } catch {
      return (error as? InspectionError)?.status
    }
  }

  @Test func everyValueOfAnExportComesIn() throws {
    let read = try imported(Self.plain)
    let person = try #require(read.catalog["Person"])
    func value(_ name: String, _ key: Int64) throws -> Value { try read.value(person.column(named: name), ObjectKey(key)) }
    #expect(try value("_id", 1) == .objectId(#require(ObjectId("5f086d00ddf69c48082eb63b"))))
    #expect(try value("name", 1) == .string("Jane é") && value("age", 1) == .int(42) && value("age", 2) == .int(7))
    #expect(try value("height", 1) == .double(1.75) && value("nick", 1) == .null && value("nick", 2) == .string(""))
    // 320,675,400 seconds after 1970; a Double could not say the last digit.
    #expect(try value("born", 1) == .date(Timestamp(secondsSince1970: 320_675_400, nanoseconds: 250_000_001)) && value("born", 2) == .null)
    #expect(try value("photo", 1) == .data(Data([0, 1, 255])) && value("balance", 1) == .decimal(#require(Decimal128("12.50"))))
    #expect(try value("token", 1) == .uuid(#require(UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"))))
    let list = Value.list([.int(1), .string("x"), .null, .decimal(try #require(Decimal128("0.1")))])
    #expect(try value("extra", 1) == .map(["a": list]) && value("extra", 2) == .bool(true))
    // JSON has no NaN: a required number that is null was one.
    if case .double(let height) = try value("height", 2) { #expect(height.isNaN) } else { Issue.record("no double") }
    let (tags, scores, phones) = (person.column(named: "tags"), person.column(named: "scores"), person.column(named: "phones"))
    #expect(try read.values(tags, ObjectKey(1), 0..<9) == [.string("a"), .string("b")])
    #expect(try read.values(scores, ObjectKey(1), 0..<9) == [.int(3), .null, .int(3)])
    #expect(try read.entries(phones, ObjectKey(1), 0..<9) == [.init("", .string("2")), .init("home", .string("1"))])
  }

  @Test func linksLeadToTheObjectsThatAreMeant() throws {
    let read = try imported(Self.plain)
    let (person, dog, address) = (
      try #require(read.catalog["Person"]), try #require(read.catalog["Dog"]), try #require(read.catalog["Address"])
    )
    #expect(try read.count(person.id) == 2 && read.count(dog.id) == 3 && read.count(address.id) == 2)
    // Of the two dogs that are alike, the first.
    #expect(try read.value(person.column(named: "best"), ObjectKey(1)) == .link(ObjectKey(1)))
    #expect(try read.values(person.column(named: "dogs"), ObjectKey(1), 0..<9) == [2, 1, 2].map { .link(ObjectKey($0)) })
    // By the primary key, however little of the object is written there; each part has an owner of its own.
    #expect(try read.values(person.column(named: "friends"), ObjectKey(2), 0..<9) == [.link(ObjectKey(1))])
    #expect(try read.value(person.column(named: "home"), ObjectKey(1)) != read.value(person.column(named: "home"), ObjectKey(2)))
    #expect(try read.value(person.column(named: "dogCount"), ObjectKey(1)) == .int(3))
    let output = StringOutput()
    let engine = try ReferenceBackend().open(OpenOptions())
    try RealmImport.run(Data(Self.plain.utf8), schema: Self.schema, into: engine)
    try Inspector(engine, location: "test", format: .table, output: output).verify()
  }

  @Test func ringsComeInByTheirReferences() throws {
    let schema = Schema([
      ObjectSchema(
        name: "Person",
        properties: [
          PropertySchema(name: "name", kind: .scalar(.string)),
          PropertySchema(name: "friends", kind: .list(.link), target: "Person"),
          PropertySchema(name: "byName", kind: .map(.link), isOptional: true, target: "Person"),
          PropertySchema(name: "any", kind: .scalar(.mixed), isOptional: true),
          PropertySchema(name: "friendOf", kind: .linkingObjects(origin: "Person", property: "friends")),
        ])
    ])
    let read = try imported(
      """
      {"Person": [
        {"$refId": "Person#17", "name": "John", "friends": [
            {"$ref": "Person#17"},
            {"$refId": "Person#18", "name": "Tony", "friends": [{"$ref": "Person#17"}], "byName": {}, "any": 1}],
         "byName": {"t": {"$refId": "Person#18", "name": "Tony"}, "n": null}, "any": {"$ref": "Person#18"},
         "friendOf": [{"$ref": "Person#17"}]},
        {"$refId": "Person#18", "name": "Tony", "friends": [
            {"$refId": "Person#17", "name": "John", "friends": [{"$ref": "Person#17"}, {"$ref": "Person#18"}]}],
         "byName": {}, "any": 1},
        {"$refId": "Person#19", "name": "Tony", "friends": [], "byName": {}, "any": null}]}
      """, schema)
    let person = try #require(read.catalog["Person"])
    let friends = person.column(named: "friends")
    #expect(try read.count(person.id) == 3)
    #expect(try read.values(friends, ObjectKey(1), 0..<9) == [1, 2].map { .link(ObjectKey($0)) })
    #expect(try read.values(friends, ObjectKey(2), 0..<9) == [.link(ObjectKey(1))])
    #expect(try read.entries(person.column(named: "byName"), ObjectKey(1), 0..<9) == [.init("n", .null), .init("t", .link(ObjectKey(2)))])
    #expect(try read.value(person.column(named: "any"), ObjectKey(1)) == .object(ObjectLink(person.id, ObjectKey(2))))
  }

  @Test func whatDoesNotFitIsRefusedWhole() throws {
    #expect(status("[]") == .usage && status("{\"Person\": 3}") == .usage && status("{") == .usage)
    #expect(status(#"{"Cat": []}"#) == .usage && status(#"{"Dog": [{"nmae": "x"}]}"#) == .usage)
    #expect(status(#"{"Dog": [{"name": 3}]}"#) == .usage && status(#"{"Dog": [{"name": null}]}"#) == .usage)
    #expect(status(#"{"Person": [{"_id": "5f", "name": "x"}]}"#) == .usage)
    #expect(status(#"{"Person": [{"_id": "5f086d00ddf69c48082eb63b", "friends": [{"$ref": "Person#9"}]}]}"#) == .usage)
    let twice = #"{"_id": "5f086d00ddf69c48082eb63b", "name": "x"}"#
    #expect(status("{\"Person\": [\(twice), \(twice)]}") == .usage)
    #expect(status("{}") == nil)
    let engine = try ReferenceBackend().open(OpenOptions())
    #expect(throws: InspectionError.self) {
      try RealmImport.run(Data(#"{"Dog": [{"name": "a"}, {"name": 3}]}"#.utf8), schema: Self.schema, into: engine)
    }
    #expect(try engine.beginRead().catalog.tables.isEmpty)
    // Nor is anything put beside what is there.
    let full = try ReferenceBackend().open(OpenOptions())
    try RealmImport.run(Data(Self.plain.utf8), schema: Self.schema, into: full)
    #expect(throws: InspectionError.self) {
      try RealmImport.run(Data(Self.plain.utf8), schema: Self.schema, into: full)
    }
  }
}
