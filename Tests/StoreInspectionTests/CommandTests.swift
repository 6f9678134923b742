import Foundation
import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

@testable import StoreInspection

@Suite struct CommandTests {
  @Test func nothingThatATerminalWouldObeyIsInAMessageOrInJSON() throws {
    let hostile = "a\u{1B}[2J\u{9B}b\u{202E}c\u{2028}é🦎"
    let message = InspectionError(.usage, "There is no '\(hostile)'.").message
    #expect(message == "There is no 'a\\u{1B}[2J\\u{9B}b\\u{202E}c\\u{2028}é🦎'.")
    #expect(InspectionError(.usage, message).message == message)
    var bytes: [UInt8] = []
    JSONText.append(hostile, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "\"a\\u001b[2J\\u009bb\\u202ec\\u2028é🦎\"")
    #expect(try JSONDecoder().decode(String.self, from: Data(bytes)) == hostile)
  }

  @Test func nothingThatATerminalWouldObeyIsInAnExportAndWhatWasThereIsImported() throws {
    let (type, property) = ("Pup\u{9B}2J\u{202E}é", "na\u{85}me\u{7F}")
    let engine = try MemoryBackend().open(OpenOptions())
    let table = try #require(try engine.adopt(Schema([ObjectSchema(type, .scalar(property, .string))]))[type])
    try engine.write { _ = try $0.insert(table, [property: .string("a\u{9B}b")]) }
    let output = StringOutput()
    try Inspector(engine, location: "there", format: .json, output: output).export()
    #expect(!output.text.unicodeScalars.contains { $0 != "\n" && DisplayText.isUnsafe($0) }, "\(output.text.debugDescription)")
    #expect(output.text.contains(#""name":"Pup\u009b2J\u202eé""#))
    let copy = try MemoryBackend().open(OpenOptions())
    try GraphImport.run(Data(output.text.utf8), into: copy)
    let read = try copy.beginRead()
    defer { read.end() }
    let there = try #require(read.catalog[type])
    #expect(try read.value(there.column(named: property), ObjectKey(1)) == .string("a\u{9B}b"))
  }

  @Test func infoTellsVersionSizeAndTypes() throws {
    let text = try Kennel().printed(.table) { try $0.info() }
    #expect(text.hasPrefix("store     kennel\nbackend   reference\nversion   2, committed 2026-11-21T08:53:53.593Z by keeper\n"))
    #expect(
      text.hasSuffix(
        """

        type    objects  properties  indexes  primary key
        ------  -------  ----------  -------  -----------
        Person        3           5        3  name
        Dog           2           7        0  -
        Chip          1           1        1  number

        """))
  }

  @Test func infoAsJSONHasEveryFact() throws {
    let text = try Kennel().printed(.ndjson) { try $0.info() }
    let facts = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(facts["version"] as? Int == 2)
    #expect(facts["author"] as? String == "keeper")
    #expect((facts["types"] as? [[String: Any]])?.map { $0["count"] as? Int } == [3, 2, 1])
    #expect((facts["readers"] as? [Any])?.isEmpty == true)
    #expect(text.count { $0 == "\n" } == 1)
  }

  @Test func infoAsCSVIsNamesAndValues() throws {
    let text = try Kennel().printed(.csv) { try $0.info() }
    #expect(text.hasPrefix("name,value\r\nstore,kennel\r\nbackend,reference\r\nversion,2\r\n"))
    #expect(text.hasSuffix("count.Person,3\r\ncount.Dog,2\r\ncount.Chip,1\r\n"))
  }

  @Test func aHeldVersionIsShownWithItsHolder() throws {
    let kennel = try Kennel()
    let read = try kennel.engine.beginRead()
    defer { read.end() }
    let text = try kennel.printed(.table) { try $0.info() }
    #expect(text.contains("reader    version 2 held by process \(ProcessInfo.processInfo.processIdentifier)\n"))
  }

  @Test func schemaIsReadableAsATable() throws {
    let text = try Kennel().printed(.table) { try $0.schema() }
    #expect(
      text == """
        Person
          property   type
          ---------  -------  -----------
          name       string   primary key
          age        int16?   indexed
          best       Dog?
          dogs       [Dog]
          friend     Person?
          age, name           index

        Dog
          property  type
          --------  ----------------------
          weight    double
          tag       uuid
          born      date?
          photo     data?
          good      bool
          marks     [float?]
          owners    inverse of Person.dogs

        Chip
          property  type
          --------  ----  -----------
          number    int8  primary key

        """)
  }

  @Test func schemaIsCompleteForPrograms() throws {
    let kennel = try Kennel()
    let lines = try kennel.printed(.ndjson) { try $0.schema() }.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(
      lines[2]
        == #"{"type":"Chip","properties":[{"name":"number","kind":"int8","optional":false,"target":null,"primaryKey":true,"indexed":true,"unique":true}],"indexes":[]}"#)
    let csv = try kennel.printed(.csv) { try $0.schema() }
    #expect(csv.contains("Person,dogs,list of link,false,Dog,false,false,false\r\n"))
    #expect(csv.contains("Dog,owners,inverse,false,Person.dogs,false,false,false\r\n"))
    let json = try kennel.printed(.json) { try $0.schema() }
    let types = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
    #expect((types[0]["indexes"] as? [[String: Any]])?.first?["properties"] as? [String] == ["age", "name"])
  }

  @Test func countOfATypeIsOneNumber() throws {
    let kennel = try Kennel()
    #expect(try kennel.printed(.table) { try $0.count("Person") } == "3\n")
    #expect(try kennel.printed(.json) { try $0.count("Dog") } == "{\n  \"Dog\": 2\n}\n")
    #expect(
      try kennel.printed(.csv) { try $0.count() }
        == "type,count\r\nPerson,3\r\nDog,2\r\nChip,1\r\n")
    #expect(
      try kennel.printed(.ndjson) { try $0.count("Chip") }
        == "{\"type\":\"Chip\",\"count\":1}\n")
    #expect(try kennel.printed(.table) { try $0.count() }.hasSuffix("Chip          1\n"))
  }

  @Test func getFindsByPrimaryKeyAndByObjectKey() throws {
    let kennel = try Kennel()
    let ann = ##"{"$id":"Person-Ann","name":"Ann","age":41,"best":{"$ref":"Dog-1"},"dogs":\##(Kennel.annsDogs),"friend":null}"## + "\n"
    #expect(try kennel.printed(.json) { try $0.get("Person", "Ann") } == ann)
    #expect(try kennel.printed(.ndjson) { try $0.get("Person", "#1") } == ann)
    #expect(try kennel.printed(.csv) { try $0.get("Chip", "5") } == "#key,number\r\n1,5\r\n")
  }

  @Test func getShowsWhatLinksToTheObject() throws {
    let text = try Kennel().printed(.table) { try $0.get("Dog", "#1") }
    #expect(
      text == """
        property  value
        --------  ------------------------------------
        #key      1
        weight    30.25
        tag       01020304-0506-0708-090A-0B0C0D0E0F10
        born      2001-01-02T10:17:36.789Z
        photo     3 bytes
        good      true
        marks     []
        owners    [Ann, Ann]

        """)
  }

  @Test func aStringKeyThatLooksLikeAnObjectKeyIsWrittenWithTwoSigns() throws {
    let kennel = try Kennel()
    try Kennel.write(kennel.engine) { write in _ = try Rows(write, "Person").insert(["name": .string("#9")]) }
    let text = try kennel.printed(.csv) { try $0.get("Person", "##9") }
    #expect(text.hasSuffix("\r\n4,#9,,,[],\r\n"))
  }

  @Test(arguments: [
    ("Person", "Zoe", CommandStatus.notFound, "There is no Person 'Zoe' in kennel."),
    ("Person", "#99", .notFound, "There is no Person '#99' in kennel."),
    ("Person", "#-1", .notFound, "There is no Person '#-1' in kennel."),
    ("Cat", "1", .notFound, "There is no type 'Cat' in kennel, which has Person, Dog, Chip."),
    ("Person", "#one", .usage, "'#one' is no object key: '#' and a number are wanted."),
    ("Dog", "Rex", .usage, "'Dog' has no primary key: name its objects by object key, as '#1'."),
    ("Chip", "128", .usage, "'128' is no int8, which the primary key 'number' of 'Chip' is."),
    ("Chip", "x\u{1B}[2J\n", .usage, "'x\\u{1B}[2J\\n' is no int8, which the primary key 'number' of 'Chip' is."),
  ])
  func whatGetCannotFindIsSaidInOneLine(type: String, name: String, status: CommandStatus, message: String) throws {
    let kennel = try Kennel()
    let error = #expect(throws: InspectionError.self) {
      try kennel.printed(.table) { try $0.get(type, name) }
    }
    #expect(error == InspectionError(status, message))
  }

  @Test func aNegativeLimitIsAMistakeOfTheCall() throws {
    let kennel = try Kennel()
    let error = #expect(throws: InspectionError.self) {
      try kennel.printed(.json) { try $0.dump(limit: -1) }
    }
    #expect(error?.status == .usage)
    #expect(
      try kennel.printed(.json) { try $0.dump(["Chip"], limit: 0) }
        == "{\n\"Chip\": []\n}\n")
  }

  @Test func aClosedEngineIsAnErrorNotATrap() throws {
    let kennel = try Kennel()
    kennel.engine.close()
    for command in [
      { try $0.info() }, { try $0.schema() },
      { try $0.dump() }, { try $0.count() },
      { try $0.get("Dog", "#1") },
    ] as [(Inspector) throws -> Void] {
      let error = #expect(throws: InspectionError.self) { try kennel.printed(.json, command) }
      #expect(error?.status == .inputOutput)
      #expect(error?.message.isEmpty == false)
    }
  }
}
