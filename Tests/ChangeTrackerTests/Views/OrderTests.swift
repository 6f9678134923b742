import QueryEngine
import QueryModel
import StorageInterface
import StoreValues
import Synchronization
import Testing
import VivariumTestSupport
@testable import ChangeTracker

/// How orders by text and by two properties are kept: what is compared, and what is read for it.
@Suite struct OrderTests {
  private func ordering(_ sort: [SortKey]) throws -> ViewOrdering {
    let kennel = try Kennel(SeededGenerator(seed: 1))
    return try #require(try kennel.kept(Query(type: "Person", sort: sort))).question.ordering
  }

  @Test func twoNumbersAreComparedWithoutReadingRows() throws {
    let (age, score) = (PropertyPath("age"), PropertyPath("score"))
    #expect(try ordering([SortKey(age)]) == .byPrefix)
    #expect(try ordering([SortKey(age), SortKey(score, ascending: false)]) == .byTwoPrefixes)
    #expect(try ordering([SortKey(PropertyPath("best.weight"), ascending: false)]) == .byTwoPrefixes)
    #expect(try ordering([SortKey(age), SortKey(score), SortKey(age)]) == .byFullKey)
    #expect(try ordering([SortKey(age), SortKey(PropertyPath("best.weight"))]) == .byFullKey)
    #expect(try ordering([SortKey(PropertyPath("name"))]) == .byFullKey)
  }

  /// Remembers whose sort keys are read.
  private struct RecordingQuestion: ViewQuestion {
    let question: KeptQuery
    let rowsRead = Rows()

    final class Rows: Sendable {
      let keys = Mutex<[Int64]>([])
    }

    var table: TableID { question.table }
    var reads: [ReadPath] { question.reads }
    var ordering: ViewOrdering { question.ordering }

    func matches(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> Bool {
      try question.matches(key, in: reading)
    }

    func sortKey(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> [UInt8] {
      rowsRead.keys.withLock { $0.append(key.rawValue) }
      return try question.sortKey(key, in: reading)
    }

    func places(of keys: [Int64], in reading: any StorageReading) throws(StorageError) -> [OrderedRow] {
      rowsRead.keys.withLock { $0 += keys }
      return try question.places(of: keys, in: reading)
    }
  }

  /// Names that differ in their first 16 bytes: a view of them reads the row that moved, in both versions, and no other.
  @Test func aRowThatMovesAmongTextsIsTheOnlyOneRead() throws {
    let kennel = try Kennel(SeededGenerator(seed: 2))
    let name = kennel.person.column(named: "name")
    var rows: [ObjectKey] = []
    try kennel.write { write in
      for i in 0..<500 {
        let row = try write.insert(RowBuffer(kennel.person))
        try write.set(name, row, .string("Task \(1_000 + i) of many"))
        rows.append(row)
      }
    }
    let query = Query(type: "Person", sort: [SortKey(PropertyPath("name"))])
    let (kept, bound) = try #require(try kennel.kept(query))
    let question = RecordingQuestion(question: kept)
    let reading = try kennel.engine.beginRead()
    let upkeep = try ViewUpkeep(question, keys: bound.keys(in: reading), in: reading)
    // Once each for building it, as they came in order.
    #expect(question.rowsRead.keys.withLock { $0.count } == 500)
    question.rowsRead.keys.withLock { $0 = [] }
    try kennel.write { try $0.set(name, rows[250], .string("Task 1400 of few")) }
    let next = try kennel.engine.beginRead()
    let step = try #require(try upkeep.apply(kennel.records(after: reading.version, in: next), from: reading, to: next))
    #expect(step.positions.removed.map(\.position) == [250])
    // Where it was, where it is, and once where the search finds it.
    #expect(question.rowsRead.keys.withLock { $0 } == [Int64](repeating: rows[250].rawValue, count: 3))
    #expect(try upkeep.view.latest.allKeys == bound.keys(in: next))
  }
}
