import Foundation
import StorageInterface
import StorageMemory
import StorageSQLite
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

/// An export that somebody has written by hand or damaged makes a sound store or none.
@Suite struct ImportTests {
  private func engine(_ kind: String, _ folder: TemporaryDirectory) throws -> any StorageEngine {
    kind == "memory"
      ? try MemoryBackend().open(OpenOptions()) : try SQLiteBackend(path: folder.file(UUID().uuidString).path).open(OpenOptions())
  }

  private func export(_ fill: (any WriteTransaction, TableEntry) throws -> Void = { _, _ in }) throws -> String {
    let engine = try MemoryBackend().open(OpenOptions())
    let schema = Schema([
      ObjectSchema(
        "Pup", .scalar("name", .string, unique: true), .scalar("age", .int64, indexed: true), .link("friend", to: "Pup"),
        .list("others", ofLinksTo: "Pup"), .set("tags", of: .string), .map("scores", of: .int64), .scalar("extra", .mixed, optional: true)),
      ObjectSchema("Cat", .scalar("x", .int64)),
    ])
    let table = try #require(try engine.adopt(schema)["Pup"])
    try engine.write { try fill($0, table) }
    let output = StringOutput()
    try Inspector(engine, location: "there", format: .json, output: output).export()
    return output.text
  }

  private func status(_ json: String, _ kind: String) throws -> CommandStatus? {
    let folder = TemporaryDirectory("import")
    let engine = try engine(kind, folder)
    defer { engine.close() }
    do throws(InspectionError) { try GraphImport.run(Data(json.utf8), into: engine) } catch {
      #expect(!error.message.isEmpty)
      return error.status
    }
    return nil
  }

  private static let pup = ##"{"#key":K,"name":"N","age":1,"friend":F,"others":[],"tags":[]}"##

  private func json(_ pups: [(key: String, name: String, friend: String)]) throws -> String {
    let lines = pups.map {
      Self.pup.replacing("K", with: $0.key).replacing("\"N\"", with: "\"\($0.name)\"").replacing("F", with: $0.friend)
    }
    return try export().replacing("\"Pup\":[]", with: "\"Pup\":[\(lines.joined(separator: ","))]")
  }

  @Test(arguments: ["memory", "sqlite"]) func aHighKeyCostsNoMoreThanALowOne(kind: String) throws {
    #expect(try status(json([("1", "a", "null"), ("\(ObjectLink.keyMax)", "b", "1")]), kind) == nil)
    #expect(try status(json([("9000000000000000000", "a", "null")]), kind) == .usage)
    #expect(try status(json([("140737488355328", "a", "null")]), kind) == .usage)
    #expect(try status(json([("0", "a", "null")]), kind) == .usage)
  }

  @Test func linksAreReadAsReferencesAndAsTheNumbersOfTheFirstFormat() throws {
    for friend in ["1", #"{"$ref":1}"#] { #expect(try status(json([("1", "a", "null"), ("2", "b", friend)]), "memory") == nil) }
    for friend in [#"{"$ref":7}"#, #"{"$ref":"Pup-1"}"#, #"{"$id":1}"#, #"{"$ref":1,"more":2}"#] {
      #expect(try status(json([("1", "a", "null"), ("2", "b", friend)]), "memory") == .usage, "\(friend)")
    }
    let named = try json([("1", "a", "null")]).replacing("\"#key\":1", with: "\"$id\":1")
    #expect(try status(named, "memory") == nil)
  }

  @Test(arguments: ["memory", "sqlite"]) func anExportThatContradictsItselfIsRefused(kind: String) throws {
    #expect(try status(json([("1", "a", "null"), ("2", "b", "1")]), kind) == nil)
    #expect(try status(json([("1", "a", "null"), ("1", "b", "null")]), kind) == .usage)
    #expect(try status(json([("1", "a", "null"), ("2", "a", "null")]), kind) == .usage)
    #expect(try status(json([("1", "a", "7")]), kind) == .usage)
    #expect(try status(json([("1", "a", "-1")]), kind) == .usage)
    let good = try json([("1", "a", "null")])
    #expect(try status(good.replacing("\"Cat\":[", with: "\"Dog\":["), kind) == .usage)
  }

  /// What the import of an object with `new` in the place of `old` is refused with; nil if it is not.
  private func refusal(_ kind: String, _ old: String, _ new: String) throws -> String? {
    let good = try json([("1", "a", "null")])
    #expect(good.contains(old))
    let folder = TemporaryDirectory("import")
    let engine = try engine(kind, folder)
    defer { engine.close() }
    do throws(InspectionError) { try GraphImport.run(Data(good.replacing(old, with: new).utf8), into: engine) } catch {
      #expect(error.status == .usage)
      #expect(try engine.latestVersion() == Version(0))
      return error.message
    }
    return nil
  }

  /// It would become a default: 0, or an empty text.
  @Test(arguments: ["memory", "sqlite"]) func whatIsRequiredAndNotThereIsRefused(kind: String) throws {
    let age = "'Pup.age' of object 1 is"
    #expect(try refusal(kind, #""age":1"#, #""age":null"#)?.hasPrefix("\(age) null") == true)
    #expect(try refusal(kind, #""age":1,"#, "")?.hasPrefix("\(age) not in the export") == true)
    #expect(try refusal(kind, #""name":"a","age":1,"#, #""age":1,"#)?.hasPrefix("'Pup.name' of object 1 is not") == true)
    #expect(try refusal(kind, #""tags":[]"#, #""tags":["a",null]"#)?.hasPrefix("'Pup.tags' of object 1 has null") == true)
    #expect(try refusal(kind, #""others":[]"#, #""others":[null]"#)?.hasPrefix("'Pup.others' of object 1 has null") == true)
    // Optional ones, and collections, may be left out.
    #expect(try refusal(kind, #""friend":null,"others":[],"tags":[]"#, #""extra":null"#) == nil)
  }

  @Test(arguments: ["memory", "sqlite"]) func aNameThatNoPropertyHasIsRefused(kind: String) throws {
    for (old, new) in [(#""age":1"#, #""aeg":1"#), (#""tags":[]"#, #""aeg":[]"#), (#""age":1"#, #""age":1,"aeg":2"#)] {
      #expect(try refusal(kind, old, new)?.hasPrefix("'Pup' has no property 'aeg', which object 1") == true, "\(new)")
    }
  }

  /// One of two would be gone.
  @Test(arguments: ["memory", "sqlite"]) func whatIsThereTwiceIsRefused(kind: String) throws {
    #expect(try refusal(kind, #""tags":[]"#, #""tags":["b","a","b"]"#)?.hasPrefix("'Pup.tags' of object 1 has a member twice") == true)
    #expect(try refusal(kind, #""tags":[]"#, #""scores":[["k",1],["k",2]]"#)?.hasPrefix("'Pup.scores' of object 1 has a key twice") == true)
    let inside = #""extra":["map",[["k",["int",1]],["k",["int",2]]]]"#
    #expect(try refusal(kind, #""tags":[]"#, inside)?.hasPrefix("'Pup.extra' of object 1") == true)
    // Keys are equal if their bytes are.
    #expect(try refusal(kind, #""tags":[]"#, #""tags":["b","a"],"scores":[["\u00e9",1],["e\u0301",1]]"#) == nil)
  }

  @Test(arguments: ["memory", "sqlite"]) func aCatalogWithSomethingTwiceIsRefused(kind: String) throws {
    let good = try json([("1", "a", "null")])
    let object = try #require(try JSONSerialization.jsonObject(with: Data(good.utf8)) as? [String: Any])
    let catalog = try #require(object["catalog"] as? [String: Any])
    let tables = try #require(catalog["tables"] as? [[String: Any]])
    func status(_ change: (inout [[String: Any]]) -> Void) throws -> CommandStatus? {
      var (object, catalog, tables) = (object, catalog, tables)
      change(&tables)
      catalog["tables"] = tables
      object["catalog"] = catalog
      return try self.status(String(decoding: JSONSerialization.data(withJSONObject: object), as: UTF8.self), kind)
    }
    #expect(try status { _ in } == nil)
    let twice = try status { tables in tables.append(tables[0]) }
    #expect(twice == .usage)
    let named = try status { tables in tables[1]["name"] = "Pup" }
    #expect(named == .usage)
    for part in ["columns", "indexes"] {
      let doubled = try status { tables in
        guard var parts = tables[0][part] as? [[String: Any]] else { return }
        parts.append(parts[0])
        tables[0][part] = parts
      }
      #expect(doubled == .usage)
    }
  }

  @Test func damagedExportsMakeSoundStoresOrNone() throws {
    var random = SeededGenerator.forTest()
    let good = Array(try export { write, table in
      var last: ObjectKey?
      for i in 0..<12 {
        let key = try write.insert(table, ["name": .string("p\(i)"), "age": .int(Int64(i)), "friend": last.map { .link($0) } ?? .null])
        try write.edit(table.column(named: "others"), key, .insert(at: 0, [.link(key)]))
        _ = try write.insert(member: .string("t\(i % 3)"), into: table.column(named: "tags"), key)
        last = key
      }
    }.utf8)
    for _ in 0..<environmentNumber("VIVARIUM_DAMAGE_ROUNDS", default: 150) {
      var bytes = good
      for _ in 0...random.below(2) {
        let digits = bytes.indices.filter { (48...57).contains(bytes[$0]) }
        if random.oneIn(3) { random.damage(&bytes) } else if let at = digits.randomElement(using: &random) {
          let numbers = ["0", "1", "2", "3", "65535", "-1", "9e18", "9223372036854775807", "140737488355327", "null", "\"x\""]
          bytes.replaceSubrange(at...at, with: Array(numbers[random.below(numbers.count)].utf8))
        }
      }
      let engine = try MemoryBackend().open(OpenOptions())
      guard (try? GraphImport.run(Data(bytes), into: engine)) != nil else { continue }
      var tour = StoreTour()
      tour.read(engine)
      #expect(tour.errors.isEmpty && !tour.isEndless, "\(String(decoding: bytes, as: UTF8.self))")
      engine.close()
    }
  }
}
