import Testing
import Vivarium
import VivariumTestSupport

@Model final class LongCode {
  @PrimaryKey var code = ""
  @Unique var other = ""
  init(code: String, other: String = "") { (self.code, self.other) = (code, other) }
}

/// Errors about values of a megabyte: they are printed and logged, so their texts are short.
@Suite struct LongErrorTests {
  private static let long = String(repeating: "long ", count: 200_000)

  private func expectShort(_ code: StoreError.Code, _ body: () throws -> Void, line: Int = #line) {
    let place = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
    do {
      try body()
      Issue.record("No error.", sourceLocation: place)
    } catch let error as StoreError {
      #expect(error.code == code, sourceLocation: place)
      #expect("\(error)".utf8.count < 20_000, sourceLocation: place)
      #expect(error.underlying.map { "\($0)".utf8.count < 20_000 } ?? true, sourceLocation: place)
    } catch {
      Issue.record(error, sourceLocation: place)
    }
  }

  @Test func errorsAboutHugeValuesAreShort() throws {
    let long = Self.long
    let store = try Store(StoreConfiguration.reference(nil, models: [LongCode.self]))
    try store.write { try store.add(LongCode(code: long, other: "1")) }
    expectShort(.primaryKeyExists) { try store.write { try store.add(LongCode(code: long, other: "2")) } }
    expectShort(.invalidQuery) { _ = try store.objects(LongCode.self).filter(format: long) }
    expectShort(.invalidQuery) { _ = try store.objects(LongCode.self).filter(format: "code == '\(long)' AND 1") }
    expectShort(.invalidQuery) { _ = try store.objects(LongCode.self).filter(format: "\(long.filter { $0 != " " }) == 1") }
    expectShort(.invalidQuery) { _ = try store.objects(LongCode.self).filter(format: "code MATCHES '(\(long)'") }
    expectShort(.unknownType) { _ = try store.dynamicObjects(long) }
    #expect(store.objects(LongCode.self).count == 1)
  }
}
