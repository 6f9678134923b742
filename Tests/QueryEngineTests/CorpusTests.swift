import Foundation
import QueryEngine
import QueryModel
import StorageInterface
import StorageLMDB
import StorageMemory
import StorageReference
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct CorpusTests {
  enum Engine: String, CaseIterable, Sendable {
    case plain, memory, lmdb, sqlite

    func backend(_ folder: TemporaryDirectory) -> any StorageBackend {
      switch self {
      case .plain: ReferenceBackend()
      case .memory: MemoryBackend()
      case .lmdb: LMDBBackend(path: folder.file("corpus.lmdb").path)
      case .sqlite: SQLiteBackend(path: folder.file("corpus.sqlite").path)
      }
    }
  }

  @Test(arguments: Engine.allCases)
  func everyConditionGivesItsRows(_ engine: Engine) throws {
    let folder = TemporaryDirectory("corpus")
    let corpus = try Corpus(engine.backend(folder))
    defer { corpus.engine.close() }
    let reading = try corpus.engine.beginRead()
    defer { reading.end() }
    for (condition, rows) in Corpus.all {
      do {
        let bound = try BoundQuery(Query(type: "Person", parsing: condition), in: corpus.catalog)
        let expected = rows.map { corpus.keys[$0] }
        let keys = try bound.keys(in: reading)
        #expect(keys == expected, "\(condition): \(keys.map { corpus.keys.firstIndex(of: $0) ?? -1 }) not \(rows)")
        #expect(try bound.count(in: reading) == rows.count, "\(condition)")
      } catch { Issue.record("\(condition): \(error)") }
    }
    #expect(Corpus.all.count >= 300)
  }

  @Test func everyConditionPrintsAsATextThatReadsAsItself() throws {
    for (condition, _) in Corpus.all {
      let query = try Query(type: "Person", parsing: condition)
      let again = try Query(type: "Person", parsing: query.description)
      #expect(again == query, "\(condition) prints as \(query)")
    }
  }
}
