import Foundation
import StorageInterface
import StoreInspection
import StoreValues
import Testing

@Suite struct DumpTests {
  @Test func jsonHasEveryTypeWithEveryObject() throws {
    let text = try Kennel().printed(.json) { try $0.dump() }
    #expect(
      text == """
        {
        "Person": [
        {"$id":"Person-Ann","name":"Ann","age":41,"best":{"$ref":"Dog-1"},"dogs":\(Kennel.annsDogs),"friend":null},
        {"$id":"Person-B\\"o,\\nb","name":"B\\"o,\\nb","age":null,"best":null,"dogs":[],"friend":{"$ref":"Person-Ann"}},
        {"$id":"Person-","name":"","age":-1,"best":null,"dogs":[{"$ref":"Dog-2"}],"friend":null}
        ],
        "Dog": [
        {"$id":"Dog-1","weight":30.25,"tag":"01020304-0506-0708-090A-0B0C0D0E0F10","born":"2001-01-02T10:17:36.789Z","photo":"AP8Q","good":true,"marks":[]},
        {"$id":"Dog-2","weight":"NaN","tag":"01020304-0506-0708-090A-0B0C0D0E0F10","born":null,"photo":null,"good":false,"marks":[1.5,null,"-Infinity"]}
        ],
        "Chip": [
        {"$id":"Chip-5","number":5}
        ]
        }

        """)
    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
  }

  /// What is read by `create` must not become a link to an object that happens to be there.
  @Test func aMapThatLooksLikeAReferenceIsMarked() throws {
    let kennel = try Kennel(
      empty: Schema([ObjectSchema(name: "Box", properties: [PropertySchema(name: "extra", kind: .scalar(.mixed), isOptional: true)])]))
    func map(_ key: String, _ value: Value) -> Value { .map(ValueMap([ValueMap.Entry(key, value)])) }
    let own = map("$ref", .string("Box-1"))
    try Kennel.write(kennel.engine) { write in
      let box = try Rows(write, "Box")
      for extra in [own, map("$map", own), map("a", own), map("$map", .int(3))] { _ = try box.insert(["extra": extra]) }
    }
    let lines = try kennel.printed(.ndjson) { try $0.dump(["Box"]) }.split(separator: "\n")
    #expect(
      lines == [
        #"{"$id":"Box-1","extra":{"$map":{"$ref":"Box-1"}}}"#, #"{"$id":"Box-2","extra":{"$map":{"$map":{"$map":{"$ref":"Box-1"}}}}}"#,
        #"{"$id":"Box-3","extra":{"a":{"$map":{"$ref":"Box-1"}}}}"#, #"{"$id":"Box-4","extra":{"$map":3}}"#,
      ])
  }

  @Test func everyLineOfNDJSONIsAnObjectOfItsType() throws {
    let text = try Kennel().printed(.ndjson) { try $0.dump(["Chip", "Person", "Chip"], limit: 1) }
    #expect(
      text == """
        {"$id":"Chip-5","number":5}
        {"$id":"Person-Ann","name":"Ann","age":41,"best":{"$ref":"Dog-1"},"dogs":\(Kennel.annsDogs),"friend":null}

        """)
  }

  @Test func onATerminalCSVObeysNobodyAndElsewhereItKeepsEveryByte() throws {
    let kennel = try Kennel()
    try Kennel.write(kennel.engine) { write in
      _ = try Rows(write, "Person").insert(["name": .string("\u{1B}]0;owned\u{7}\u{202E}x"), "age": .int(1)])
    }
    #expect(try kennel.printed(.csv) { try $0.dump(["Person"]) }.contains("\u{1B}]0;owned\u{7}\u{202E}x"))
    let shown = TerminalOutput()
    try Inspector(kennel.engine, location: "kennel", format: .csv, output: shown).dump(["Person"])
    #expect(shown.text.contains(#"\u{1B}]0;owned\u{7}\u{202E}x"#) && !shown.text.contains("\u{1B}"))
  }

  @Test func csvTellsNullFromEmptyAndQuotesByTheStandard() throws {
    let text = try Kennel().printed(.csv) { try $0.dump(["Person"]) }
    #expect(
      text == [
        "#key,name,age,best,dogs,friend",
        "1,Ann,41,#1,\"\(Kennel.annsDogs.replacing("\"", with: "\"\""))\",",
        "2,\"B\"\"o,\nb\",,,[],Ann", "3,\"\",-1,,\"[{\"\"$ref\"\":\"\"Dog-2\"\"}]\",", "",
      ].joined(separator: "\r\n"))
  }

  @Test func csvOfSeveralTypesIsAMistakeOfTheCall() throws {
    let kennel = try Kennel()
    let error = #expect(throws: InspectionError.self) {
      try kennel.printed(.csv) { try $0.dump() }
    }
    #expect(error?.status == .usage)
    #expect(error?.message == "CSV holds one type at a time: name one of Person, Dog, Chip, or use ndjson.")
  }

  @Test func aTableIsAlignedAndOnOneLineAnObject() throws {
    let text = try Kennel().printed(.table) { try $0.dump(["Person", "Chip"]) }
    #expect(
      text == """
        Person: 3 objects
        #key  name     age  best  dogs          friend
        ----  -------  ---  ----  ------------  ------
           1  Ann       41  #1    [#1, #2, #1]  nil
           2  B"o,\\nb  nil  nil   []            Ann
           3            -1  nil   [#2]          nil

        Chip: 1 object
        #key  number
        ----  ------
           1       5

        """)
  }

  @Test func aTypeThatIsNotThereIsNamedBeforeAnythingIsPrinted() throws {
    let output = StringOutput()
    let inspector = Inspector(try Kennel().engine, location: "kennel", format: .ndjson, output: output)
    let error = #expect(throws: InspectionError.self) { try inspector.dump(["Person", "Cat"]) }
    #expect(error?.status == .notFound)
    #expect(error?.message == "There is no type 'Cat' in kennel, which has Person, Dog, Chip.")
    #expect(output.text.isEmpty)
  }

  @Test func anEmptyStoreHasAnEmptyDump() throws {
    let kennel = try Kennel(empty: Schema([]))
    let expected: [(OutputFormat, String)] = [(.json, "{}\n"), (.ndjson, ""), (.table, "")]
    for (format, text) in expected {
      #expect(try kennel.printed(format) { try $0.dump() } == text)
    }
    let bare = try Kennel(empty: Kennel.schema)
    #expect(
      try bare.printed(.json) { try $0.dump(["Dog"]) } == "{\n\"Dog\": []\n}\n")
  }

  @Test func aDumpShowsOneVersionWhileOthersWrite() throws {
    let kennel = try Kennel()
    let output = WritingOutput(kennel.engine)
    try Inspector(kennel.engine, location: "kennel", format: .ndjson, output: output).dump(["Chip"])
    #expect(output.text == "{\"$id\":\"Chip-5\",\"number\":5}\n")
  }

  /// 20,000 objects leave in pieces, none of which holds more than a few hundred.
  @Test func aLargeDumpLeavesInSmallPieces() throws {
    let kennel = try Kennel(empty: Schema([ObjectSchema(name: "N", properties: [PropertySchema(name: "n", kind: .scalar(.int64))])]))
    try Kennel.write(kennel.engine) { write in
      let rows = try Rows(write, "N")
      for number in 0..<20_000 { _ = try rows.insert(["n": .int(Int64(number))]) }
    }
    for format in OutputFormat.allCases {
      let output = CountingOutput()
      try Inspector(kennel.engine, location: "kennel", format: format, output: output).dump()
      #expect(output.lineCount >= 20_000)
      #expect(output.largestPiece < 80_000)
    }
    let output = CountingOutput()
    try Inspector(kennel.engine, location: "kennel", format: .csv, output: output).dump(["N"], limit: 5_000)
    #expect(output.lineCount == 5_001)
  }

  @Test func aClosedOutputEndsTheDumpAtOnceAndIsNoFault() throws {
    let kennel = try Kennel()
    let output = ClosedOutput()
    let error = #expect(throws: InspectionError.self) {
      try Inspector(kennel.engine, location: "kennel", format: .table, output: output).dump()
    }
    #expect(error == .outputClosed)
    #expect(output.writes == 1)
  }
}

/// Says that it is a terminal, and keeps the text.
private final class TerminalOutput: TextOutput {
  private var bytes: [UInt8] = []
  let isTerminal = true
  var text: String { String(decoding: bytes, as: UTF8.self) }

  func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
}

/// Commits a new object with the first bytes it is given.
private final class WritingOutput: TextOutput {
  private let engine: any StorageEngine
  private(set) var text = ""

  init(_ engine: any StorageEngine) { self.engine = engine }

  func write(_ bytes: UnsafeRawBufferPointer) throws(InspectionError) {
    text += String(decoding: bytes, as: UTF8.self)
    do {
      try Kennel.write(engine) { write in _ = try Rows(write, "Chip").insert(["number": .int(6)]) }
    } catch { throw InspectionError(.inputOutput, "\(error)") }
  }
}

private final class CountingOutput: TextOutput {
  private(set) var lineCount = 0
  private(set) var largestPiece = 0

  func write(_ bytes: UnsafeRawBufferPointer) {
    lineCount += bytes.count { $0 == 10 }
    largestPiece = max(largestPiece, bytes.count)
  }
}

private final class ClosedOutput: TextOutput {
  private(set) var writes = 0

  func write(_ bytes: UnsafeRawBufferPointer) throws(InspectionError) {
    writes += 1
    throw .outputClosed
  }
}
