import Foundation
import StorageInterface
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

/// What `inspect migrate --dry-run` says of enums whose cases change.
@Suite struct MigrateCasesTests {
  private static func cases(_ names: [String]) -> [DefaultValue] { names.map { .bytes(Array($0.utf8)) }.sorted() }

  private static func schema(_ names: [String], isOptional: Bool = false) -> Schema {
    Schema([
      ObjectSchema(
        name: "Guest",
        properties: [
          PropertySchema(name: "level", kind: .scalar(.string), isOptional: isOptional, cases: cases(names)),
          PropertySchema(name: "past", kind: .list(.string), cases: cases(names)),
          PropertySchema(name: "rank", kind: .scalar(.int8), isOptional: true, cases: [.word(-1), .word(3)]),
        ])
    ])
  }

  /// Two guests are high now, and one was twice.
  private func hotel() throws -> Kennel {
    let kennel = try Kennel(empty: Self.schema(["low", "normal", "high"]))
    try Kennel.write(kennel.engine) { write in
      let guest = try Rows(write, "Guest")
      _ = try guest.insert(["level": .string("high")])
      _ = try guest.insert(["level": .string("high"), "rank": .int(3)])
      let third = try guest.insert(["level": .string("low")])
      try guest.append([.string("low"), .string("high"), .string("high")], to: third, "past")
    }
    return kennel
  }

  private func dryRun(_ kennel: Kennel, _ schema: Schema, version: UInt64? = nil) throws -> (text: String, status: CommandStatus) {
    var status = CommandStatus.success
    let text = try kennel.printed(.csv) { inspector in
      do throws(InspectionError) { try inspector.migrationDryRun(to: schema, version: version) } catch { status = error.status }
    }
    return (text, status)
  }

  @Test func casesArePrintedAndRead() throws {
    let schema = Self.schema(["low", "normal", "high"])
    let kennel = try Kennel(empty: schema)
    let json = try kennel.printed(.ndjson) { try $0.schema() }
    #expect(json.contains(#""cases":["high","low","normal"]"#) && json.contains(#""cases":[-1,3]"#), "\(json)")
    #expect(try SchemaText.schema(Data(kennel.printed(.json) { try $0.schema() }.utf8)) == schema)
    let wrong = #"[{"type":"A","properties":[{"name":"x","kind":"int8","cases":["low"]}]}]"#
    let error = #expect(throws: InspectionError.self) { try SchemaText.schema(Data(wrong.utf8)) }
    #expect(error?.status == .usage && error?.message.contains("'A.x' has a case that is no int8.") == true)
  }

  @Test func aCaseThatIsGoneAndInTheDataIsRefused() throws {
    let (text, status) = try dryRun(hotel(), Self.schema(["low", "normal"]))
    #expect(status == .refused)
    #expect(text.contains("would fail,Guest,level,2,\"'high' is no case any more: keep it, or"), "\(text)")
    #expect(text.contains("would fail,Guest,past,1,\"'high' is no case any more"), "\(text)")
  }

  @Test func aMigrationMaySetOthers() throws {
    let (text, status) = try dryRun(hotel(), Self.schema(["low", "normal"]), version: 1)
    #expect(status == .success)
    #expect(text.contains("removed case,Guest,level,2,'high': refused unless the migration sets them\r\n"), "\(text)")
    #expect(text.contains("removed case,Guest,past,1,'high': refused unless the migration sets them\r\n"), "\(text)")
  }

  /// Its values move to another column, and are those of the old one.
  @Test func soItIsForAPropertyThatBecomesOptional() throws {
    let (text, status) = try dryRun(hotel(), Self.schema(["low", "normal"], isOptional: true), version: 1)
    #expect(status == .success && text.contains("converted property,Guest,level,3,"))
    #expect(text.contains("removed case,Guest,level,2,'high': refused unless the migration sets them\r\n"), "\(text)")
  }

  @Test func casesThatNobodyHasMayGoAndNewOnesMayCome() throws {
    for version: UInt64 in [0, 1] {
      let (text, status) = try dryRun(hotel(), Self.schema(["low", "high", "top"]), version: version)
      #expect(status == .success && text == "change,type,property,objects,note\r\n", "\(text)")
    }
  }
}
