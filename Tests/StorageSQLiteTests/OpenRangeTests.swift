import CVivariumSQLite
import QueryModel
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport
@testable import StorageSQLite

/// One-sided comparisons, of which a few are looked up in an index before the query runs.
@Suite struct OpenRangeTests {
  /// Counts the statements that a connection begins.
  private final class Trace {
    private(set) var texts: [String] = []

    func run<R>(_ read: any StorageReading, _ body: () throws -> R) throws -> R {
      let database = try #require((read as? Snapshot)?.connection.database)
      // Safe: this object outlives the callback, which is taken away below and runs on this thread.
      sqlite3_trace_v2(
        database, UInt32(SQLITE_TRACE_STMT),
        { _, context, statement, _ in
          if let context, let text = sqlite3_sql(OpaquePointer(statement)) {
            Unmanaged<Trace>.fromOpaque(context).takeUnretainedValue().texts.append(String(cString: text))
          }
          return 0
        }, Unmanaged.passUnretained(self).toOpaque())
      defer { sqlite3_trace_v2(database, 0, nil, nil) }
      return try body()
    }
  }

  private func atLeast(_ number: Int) -> PredicateNode {
    .comparison(Comparison(.path(PropertyPath("id")), .greaterOrEqual, .constant(.int(Int64(number)))))
  }

  @Test func manyOfThemAskNoMoreThanAWalkCosts() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    try engine.write { write in for id in 0..<100 { try write.insert(table, ["id": .int(Int64(id))]) } }
    let read = try engine.beginRead()
    defer { read.end() }
    let power = try #require(read.powers.pushdown)
    // All objects pass each.
    let query = Query(type: "Thing", condition: .and((0..<300).map { atLeast(-$0) }))
    let trace = Trace()
    let pushed = try #require(try trace.run(read) { try power.pushdown(query) })
    let questions = trace.texts.count { $0.hasPrefix("SELECT count(*) FROM (SELECT 1") }
    #expect(questions > 0 && questions <= 32, "\(trace.texts)")
    #expect(try power.count(pushed) == 100)
    // One that finds little among the first is still found.
    let few = Query(type: "Thing", condition: .and([atLeast(0), atLeast(99)] + (0..<300).map { atLeast(-$0) }))
    let found = try #require(try power.pushdown(few))
    #expect(found.statement.contains("ORDER BY +_key"))
    #expect(try power.count(found) == 1)
  }
}
