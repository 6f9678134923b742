import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let lifetimeChecks: [ConformanceCheck] = [
    ConformanceCheck("everyCallAfterEndIsClosed") { subject in
      let store = try ConformanceStore(subject)
      let key = try store.write { try store.addPeople(0..<1, $0)[0] }
      let read = try store.engine.beginRead()
      read.end()
      read.end()
      try expectReadingClosed(read, store, key)
      let write = try store.engine.beginWrite(.never)
      write.end()
      try expectReadingClosed(write, store, key)
      try expectError(.closed, nil, "insert") { try write.insert(store.pet) }
      try expectError(.closed, nil, "delete") { try write.delete(store.person.id, key) }
      try expectError(.closed, nil, "set word") { try write.set(store.person.column(named: "rank"), key, word: 1) }
      try expectError(.closed, nil, "set bytes") { try write.set(store.person.column(named: "email"), key, bytes: nil) }
      try expectError(.closed, nil, "edit") { try write.edit(store.person.column(named: "numbers"), key, .clear) }
      try expectError(.closed, nil, "beginSavepoint") { try write.beginSavepoint() }
      try expectError(.closed, nil, "releaseSavepoint") { try write.releaseSavepoint() }
      try expectError(.closed, nil, "rollbackToSavepoint") { try write.rollbackToSavepoint() }
      try expectError(.closed, nil, "setCatalog") { try write.setCatalog(Catalog()) }
      try expectError(.closed, nil, "commit") { try write.commit(CommitRecord(), .relaxed) }
    },
    ConformanceCheck("whatAClosureWasLentStaysThoughItEndsTheTransaction") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<40, $0) }
      let read = try store.engine.beginRead()
      var names: [String] = []
      var rows = 0
      try? read.scan(store.person.id, [store.person.id("name")], from: ObjectKey(1), hints: []) { batch in
        rows = batch.count
        names = (0..<batch.count).map { String(decoding: batch.columns[0].bytes(at: $0), as: UTF8.self) }
        read.end()
        // The version that is read is nobody's any more: its pages may be written over.
        for _ in 0..<3 {
          try? store.write { write in
            for key in Int64(1)...40 {
              try write.set(store.person.column(named: "name"), ObjectKey(key), .string("another name of \(key)"))
            }
          }
        }
        let after = (0..<batch.count).map { String(decoding: batch.columns[0].bytes(at: $0), as: UTF8.self) }
        if after != names { names = [] }
        return .stop
      }
      try expect(rows > 0 && names.count == rows, "what was lent has changed")
      try expectError(.closed, nil, "count") { try read.count(store.person.id) }
      try expectEqual(try store.engine.statistics().pins, [])
    },
    ConformanceCheck("statisticsListTheReadersByVersion") { subject in
      let store = try ConformanceStore(subject)
      try expectEqual(try store.engine.statistics().pins, [])
      let first = try store.engine.beginRead()
      try store.write { try $0.insert(store.pet) }
      let second = try store.engine.beginRead()
      let third = try store.engine.beginRead()
      let pins = try store.engine.statistics().pins
      try expectEqual(pins.map(\.version).sorted(), [first.version, second.version, third.version])
      try expectEqual(Set(pins.map(\.processID)), [ProcessInfo.processInfo.processIdentifier])
      second.end()
      try expectEqual(try store.engine.statistics().pins.map(\.version).sorted(), [first.version, third.version])
      first.end()
      third.end()
      try expectEqual(try store.engine.statistics().pins, [])
    },
    ConformanceCheck("droppingASnapshotLetsGoOfItsVersion") { subject in
      let store = try ConformanceStore(subject)
      func hold() throws {
        let read = try store.engine.beginRead()
        try expectEqual(try read.count(store.person.id), 0)
        try expectEqual(try store.engine.statistics().pins.count, 1)
      }
      try hold()
      try expectEqual(try store.engine.statistics().pins, [])
    },
    ConformanceCheck("statisticsKnowTheHistory") { subject in
      let store = try ConformanceStore(subject)
      for _ in 0..<4 { try store.write { try $0.insert(store.pet) } }
      try expectEqual(try store.engine.statistics().historyVersions, 1...5)
    },
    ConformanceCheck("aClosedEngineRefusesNewTransactions") { subject in
      let store = try ConformanceStore(subject)
      store.engine.close()
      store.engine.close()
      try expectError(.closed, nil, "beginRead") { try store.engine.beginRead() }
      try expectError(.closed, nil, "beginWrite") { try store.engine.beginWrite(.after(.seconds(5))) }
    },
    ConformanceCheck("transactionsThatAreOpenAtCloseReadOn") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<50, $0) }
      let read = try store.engine.beginRead()
      let picture = try Picture(read)
      store.engine.close()
      try expectSame(try Picture(read), picture, "after close")
      read.end()
      try expectError(.closed, nil, "count") { try read.count(store.person.id) }
    },
    ConformanceCheck("aWriteThatIsOpenAtCloseCanBeEnded") { subject in
      let store = try ConformanceStore(subject)
      let write = try store.engine.beginWrite(.never)
      try write.insert(store.pet)
      store.engine.close()
      write.end()
      try expectError(.closed, nil, "count") { try write.count(store.pet.id) }
    },
    ConformanceCheck("everyDurabilityCommits") { subject in
      let store = try ConformanceStore(subject)
      for durability in [Durability.full, .grouped(within: .milliseconds(5)), .relaxed, .grouped(within: .zero), .full] {
        try store.engine.write(durability) { try $0.insert(store.pet) }
      }
      try expectEqual(try (subject.persists ? store.reopened() : store).read { try $0.count(store.pet.id) }, 5)
    },
  ]

  private static func expectReadingClosed(_ tx: any StorageReading, _ store: ConformanceStore, _ key: ObjectKey) throws {
    let (name, rank) = (store.person.column(named: "name"), store.person.column(named: "rank"))
    let numbers = store.person.column(named: "numbers")
    try expectError(.closed, nil, "count") { try tx.count(store.person.id) }
    try expectError(.closed, nil, "contains") { try tx.contains(store.person.id, key) }
    try expectError(.closed, nil, "word") { try tx.word(rank, key) }
    try expectError(.closed, nil, "bytes") { try tx.bytes(name, key) { _ in } }
    try expectError(.closed, nil, "scan") { try tx.scan(store.person.id, [], from: key, hints: []) { _ in .stop } }
    try expectError(.closed, nil, "keys") { try tx.keys(in: store.person.index("id"), .all, descending: false) { _ in .stop } }
    try expectError(.closed, nil, "count in") { try tx.count(in: store.person.index("id"), .all) }
    try expectError(.closed, nil, "elementCount") { try tx.elementCount(numbers, key) }
    try expectError(.closed, nil, "elements") { try tx.elements(numbers, key, 0..<1) { _ in .stop } }
    try expectError(.closed, nil, "sources") { try tx.sources(of: key, through: store.person.column(named: "best")) { _ in .stop } }
    try expectError(.closed, nil, "history") { try tx.history(after: Version(0)) { _ in .stop } }
  }
}
