import SyncModel
import Testing
import VivariumTestSupport

/// What replicas declare of their types.
@Suite struct SyncSchemaTests {
  private let store = SyncSchema(["Note": ["text": "string", "tags": "set string"], "Place": ["city": "embedded City"]])

  @Test func declarationsAddUpWhereTheyDoNotDiffer() throws {
    let later = SyncSchema(["Note": ["text": "string", "count": "int"], "Tag": [:]])
    let joined = try store.joined(by: later)
    #expect(
      joined
        == SyncSchema([
          "Note": ["text": "string", "tags": "set string", "count": "int"], "Place": ["city": "embedded City"], "Tag": [:],
        ]))
    #expect(try joined.joined(by: store) == joined && store.joined(by: SyncSchema()) == store)
  }

  @Test func theFirstDifferenceIsNamed() {
    let later = SyncSchema(["Note": ["text": "int", "tags": "list string"], "A": ["b": "int"]])
    let difference = #expect(throws: SyncSchema.Difference.self) { try store.joined(by: later) }
    #expect(difference?.description == "'Note.tags' is declared as 'set string', and here as 'list string'.")
  }

  /// Names are compared by their bytes, as everywhere in the merge model.
  @Test func namesThatOnlyLookTheSameAreTwo() throws {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    let joined = try SyncSchema(["T": [composed: "int"]]).joined(by: SyncSchema(["T": [decomposed: "string"]]))
    #expect(joined.classes[Name("T")]?.count == 2)
  }

  @Test func aPartHasWhatItEmbeds() {
    let schema = SyncSchema([
      "Order": ["lines": "list embedded Line", "buyer": "object Person"], "Line": ["at": "embedded Place"], "Place": ["city": "string"],
      "Person": ["home": "embedded Place"],
    ])
    #expect(Set(schema.part([Name("Order"), Name("Nobody")]).classes.keys.map(\.text)) == ["Order", "Line", "Place"])
  }

  @Test func bytesComeBackAndAreTheSameForTheSame() throws {
    #expect(try SyncSchema(decoding: store.encoded) == store && SyncSchema(decoding: [0]) == SyncSchema())
    let other = SyncSchema(["Place": ["city": "embedded City"], "Note": ["tags": "set string", "text": "string"]])
    #expect(other.encoded == store.encoded)
    for count in 0..<store.encoded.count {
      #expect(throws: CodingError.self) { try SyncSchema(decoding: Array(store.encoded.prefix(count))) }
    }
  }

  @Test func whatIsThereTwiceIsRefused() {
    // Two classes "A"; a class with two properties "b".
    #expect(throws: CodingError.self) { try SyncSchema(decoding: [2, 1, 65, 0, 1, 65, 0]) }
    #expect(throws: CodingError.self) { try SyncSchema(decoding: [1, 1, 65, 2, 1, 98, 1, 105, 1, 98, 1, 105]) }
  }

  @Test func anyBytesAreADeclarationOrAnError() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<5_000 {
      var bytes = store.encoded
      for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
      guard let schema = try? SyncSchema(decoding: bytes) else { continue }
      #expect(try SyncSchema(decoding: schema.encoded) == schema)
    }
  }
}
