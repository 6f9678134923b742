import Foundation
import StoreValues
import Testing

@testable import StorageInterface

/// The quick way to read a catalog reads what is written, or nothing.
@Suite struct CatalogJSONTests {
  private func everything() throws -> Catalog {
    var properties: [PropertySchema] = []
    for type in ValueType.allCases {
      let target = type == .link ? "Thing" : nil
      properties += [
        PropertySchema(name: "a \(type.rawValue) é", kind: .scalar(type), isOptional: true, target: target),
        PropertySchema(name: "list of \(type.rawValue)", kind: .list(type), isOptional: type == .mixed, target: target),
      ]
    }
    properties += [
      PropertySchema(name: "id", kind: .scalar(.int64), isPrimaryKey: true),
      PropertySchema(name: "things", kind: .linkingObjects(origin: "Thing", property: "a link é")),
      PropertySchema(name: "n", kind: .scalar(.int8), isIndexed: true, defaultValue: .word(.min)),
      PropertySchema(name: "words", kind: .scalar(.string), isFullText: true),
      PropertySchema(name: "s", kind: .scalar(.string), isUnique: true, defaultValue: .bytes([0, 255, 7])),
    ]
    return try Catalog().adopting(
      Schema([
        ObjectSchema(name: "Thing", properties: properties, indexes: [IndexSchema(properties: ["n", "s"], isUnique: true)]),
        ObjectSchema(name: "Empty", properties: []),
      ])
    ).catalog
  }

  private func json(_ catalog: Catalog) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return Array(try encoder.encode(catalog))
  }

  private func scanned(_ json: [UInt8]) -> Catalog? {
    json.withUnsafeBytes { bytes in
      var scanner = CatalogScanner(bytes)
      return scanner.catalog()
    }
  }

  private func read(_ json: [UInt8]) throws -> Catalog { try json.withUnsafeBytes { try Catalog(json: $0) } }

  @Test func catalogsWhoseNumbersAreNotTheirOwnAreRefused() throws {
    let text = String(decoding: try json(everything()), as: UTF8.self)
    #expect(try read(Array(text.utf8)).tables.count == 2)
    for (part, other) in [
      ("\"nextTable\":3", "\"nextTable\":2"), ("\"id\":2,\"indexes\":[],\"name\":\"Empty\"", "\"id\":1,\"indexes\":[],\"name\":\"Empty\""),
      ("\"nextIndex\":6", "\"nextIndex\":5"), ("\"id\":2,\"schema\"", "\"id\":1,\"schema\""),
    ] {
      let changed = text.replacingOccurrences(of: part, with: other)
      #expect(changed != text, "\(part)")
      #expect(throws: (any Error).self, "\(part)") { try read(Array(changed.utf8)) }
    }
  }

  @Test func aFileThatHasUsedUpItsNumbersSaysSo() throws {
    var catalog = Catalog()
    catalog.nextTable = .max
    let conflict = #expect(throws: CatalogConflict.self) {
      try catalog.adopting(Schema([ObjectSchema(name: "Late", properties: [])]))
    }
    #expect(conflict?.faults.count == 1)
  }

  @Test func ordinaryCatalogsAreReadWithoutTheGeneralDecoder() throws {
    for catalog in [Catalog(), try everything(), try everything().withSideEntries()] {
      let json = try json(catalog)
      #expect(scanned(json) == catalog)
      #expect(try read(json) == catalog)
    }
  }

  @Test func whatTheScannerDoesNotKnowIsTheGeneralDecoders() throws {
    var catalog = try everything()
    catalog.tables[1].name = "back\\slash \"quote\""
    let json = try json(catalog)
    #expect(scanned(json) == nil)
    #expect(try read(json) == catalog)
  }

  @Test func damagedTextIsNeverReadAsSomethingElse() throws {
    let good = try json(try everything())
    #expect(throws: (any Error).self) { try read(Array(good.dropLast())) }
    #expect(throws: (any Error).self) { try read([]) }
    for at in stride(from: 0, to: good.count, by: 7) {
      var bytes = good
      bytes[at] = UInt8(ascii: "}")
      let quick = scanned(bytes)
      if let quick { #expect(quick == (try? JSONDecoder().decode(Catalog.self, from: Data(bytes)))) }
    }
  }
}
