import Foundation
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// A main file that lost its end while it has a log. SQLite takes the number of pages from the log, and what is missing for zeroes.
@Suite struct CutFileTests {
  /// Two objects as a killed process leaves them: a long value, and a later commit that is in the log alone.
  private struct Left {
    static let long = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7 + 1) | 1 })
    let main: Data
    let log: Data

    /// - Parameter isMoved: the long value is in the main file, and not in the log.
    init(isMoved: Bool) throws {
      let place = Place()
      var engine = try place.open()
      let table = try #require(try engine.adopt(.everything)["Thing"])
      try engine.write { _ = try $0.insert(table, ["id": .int(1), "blob": .data(Left.long)]) }
      if isMoved {
        engine.close()
        engine = try place.open()
      }
      try engine.write { _ = try $0.insert(table, ["id": .int(2)]) }
      main = try Data(contentsOf: URL(fileURLWithPath: place.path))
      log = try Data(contentsOf: URL(fileURLWithPath: place.path + "-wal"))
      engine.close()
    }

    /// Puts both into a place of their own.
    func put(cutBy count: Int) throws -> Place {
      let place = Place()
      try main.prefix(main.count - count).write(to: URL(fileURLWithPath: place.path))
      try log.write(to: URL(fileURLWithPath: place.path + "-wal"))
      return place
    }
  }

  private func value(in place: Place, isReadOnly: Bool) throws -> Value {
    let engine = try place.open(OpenOptions(isReadOnly: isReadOnly))
    defer { engine.close() }
    let read = try engine.beginRead()
    defer { read.end() }
    let table = try #require(read.catalog["Thing"])
    #expect(try read.count(table.id) == 2)
    return try read.value(table.column(named: "blob"), ObjectKey(1))
  }

  @Test(arguments: [false, true]) func whatIsInNeitherFileIsDamage(isReadOnly: Bool) throws {
    let left = try Left(isMoved: true)
    #expect(try value(in: left.put(cutBy: 0), isReadOnly: isReadOnly) == .data(Left.long))
    for count in [1, 4_096, 10_000, left.main.count / 2] {
      let place = try left.put(cutBy: count)
      let error = #expect(throws: StorageError.self, "cut by \(count)") { try value(in: place, isReadOnly: isReadOnly) }
      #expect(error?.code == .corrupt)
      #expect(error?.message.contains(place.path) == true, "\(error?.message ?? "")")
      // Nothing was done about it: somebody may have what is missing.
      #expect(try Data(contentsOf: URL(fileURLWithPath: place.path)).count == left.main.count - count)
      #expect(try Data(contentsOf: URL(fileURLWithPath: place.path + "-wal")) == left.log)
    }
  }

  @Test(arguments: [false, true]) func whatIsOnlyInTheLogIsThere(isReadOnly: Bool) throws {
    let left = try Left(isMoved: false)
    #expect(left.main.count < Left.long.count)
    #expect(try value(in: left.put(cutBy: 0), isReadOnly: isReadOnly) == .data(Left.long))
  }
}
