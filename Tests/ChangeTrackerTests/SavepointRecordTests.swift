import ChangeTracker
import StorageInterface
import StorageReference
import StoreValues
import Testing
import VivariumTestSupport

/// A write with savepoints records what one without them does.
@Suite struct SavepointRecordTests {
  private static let schema = Schema([
    ObjectSchema(
      "Person", .scalar("age", .int64), .link("best", to: "Dog"), .list("dogs", ofLinksTo: "Dog"), .set("tags", of: .string),
      .map("scores", of: .int64)),
    ObjectSchema("Dog", .scalar("age", .int64)),
  ])

  /// The edits since a savepoint, by their seeds.
  private struct Part {
    private(set) var seeds: [UInt64] = []
    private(set) var inserts = false

    mutating func add(_ seed: UInt64, _ inserts: Bool) {
      seeds.append(seed)
      self.inserts = self.inserts || inserts
    }

    static func joinLast(_ parts: inout [Part]) {
      let last = parts.removeLast()
      parts[parts.count - 1].seeds += last.seeds
      parts[parts.count - 1].inserts = parts[parts.count - 1].inserts || last.inserts
    }
  }

  /// One of two stores that begin with the same objects.
  private struct World {
    let engine: any StorageEngine
    let person: TableEntry
    let dog: TableEntry

    init() throws {
      engine = try ReferenceBackend().open(OpenOptions())
      let catalog = try engine.adopt(SavepointRecordTests.schema)
      (person, dog) = (try #require(catalog["Person"]), try #require(catalog["Dog"]))
      try engine.write { write in
        for _ in 0..<4 {
          _ = try write.insert(RowBuffer(dog))
          _ = try write.insert(RowBuffer(person))
        }
      }
    }

    /// Whether it inserts an object.
    func edit(_ write: RecordedTransaction, _ seed: UInt64) throws -> Bool {
      var random = SeededGenerator(seed: seed)
      let owner = ObjectKey(Int64(1 + random.below(6))), target = ObjectKey(Int64(1 + random.below(6)))
      switch random.below(11) {
      case 0:
        _ = try write.insert(RowBuffer(random.oneIn(2) ? dog : person))
        return true
      case 1: try write.delete(random.oneIn(2) ? dog.id : person.id, owner)
      case 2, 3: try write.set(person.column(named: "age"), owner, word: Int64(random.below(5)))
      case 4: try write.add(Int64(random.below(3)), to: person.column(named: "age"), owner)
      case 5: try write.set(person.column(named: "best"), owner, word: target.rawValue)
      case 6: try write.edit(person.column(named: "dogs"), owner, .insert(at: 0, [.link(target)]))
      case 7: try write.edit(person.column(named: "dogs"), owner, .clear)
      case 8: try write.insert(member: .string("\(random.below(3))"), into: person.column(named: "tags"), owner)
      case 9: try write.remove(member: .string("\(random.below(3))"), from: person.column(named: "tags"), owner)
      default: try write.set(.int(Int64(random.below(3))), forKey: "\(random.below(3))", in: person.column(named: "scores"), owner)
      }
      return false
    }

    func begin() throws -> RecordedTransaction { RecordedTransaction(try engine.beginWrite(.never), origin: 7, recordsValues: true) }

    func commit(_ write: RecordedTransaction) throws -> CommitRecord? {
      _ = try write.commit(author: nil, timeMilliseconds: 0, .relaxed)
      var last: CommitRecord?
      let read = try engine.beginRead()
      defer { read.end() }
      try read.history(after: Version(read.version.rawValue - 1)) { record in
        last = record
        return .proceed
      }
      return last
    }
  }

  @Test func aWriteWithSavepointsRecordsWhatOneWithoutThemDoes() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<environmentNumber("VIVARIUM_ROUNDS", default: 150) {
      let (one, other) = (try World(), try World())
      let (plain, parted) = (try one.begin(), try other.begin())
      // The edits, in parts that may still be undone.
      var parts = [Part()]
      for _ in 0..<random.below(30) {
        switch random.below(6) {
        case 0:
          try parted.beginSavepoint()
          parts.append(Part())
        case 1 where parts.count > 1:
          try parted.releaseSavepoint()
          Part.joinLast(&parts)
        // New objects use up keys, also if they are undone.
        case 2 where parts.count > 1 && parts.last?.inserts == false:
          try parted.rollbackToSavepoint()
          parts.removeLast()
        default:
          let seed = random.next()
          // One that cannot be made has no effect.
          if let inserts = try? other.edit(parted, seed) { parts[parts.count - 1].add(seed, inserts) }
        }
      }
      while parts.count > 1 {
        try parted.releaseSavepoint()
        Part.joinLast(&parts)
      }
      for seed in parts[0].seeds { _ = try one.edit(plain, seed) }
      #expect(parted.isEmpty == plain.isEmpty)
      if plain.isEmpty { continue }
      #expect(parted.record == plain.record)
      let (left, right) = (try one.commit(plain), try other.commit(parted))
      #expect(left == right)
    }
  }
}
