import SyncModel
import Testing
import VivariumTestSupport

/// What a file keeps beside its objects.
@Suite struct KeptRecordTests {
  @Test func `a record comes back from what a file keeps of it`() throws {
    let state = CodingTests.state()
    let words = RecordWords()
    let bytes = state.record.encoded(words)
    #expect(try ObjectRecord(decoding: bytes, words) == state.record)
    #expect(bytes.count < state.record.encoded().count)
    for list in state.lists {
      let piece = ListPiece(list.elements)
      #expect(try ListPiece(decoding: piece.encoded(words), words) == piece)
    }
    let again = try RecordWords(decoding: words.encoded())
    #expect(try ObjectRecord(decoding: bytes, again) == state.record)
    #expect(state.record.encoded(again) == bytes)
  }

  @Test func `the directory of an object's lists comes back, with short ones in it`() throws {
    let state = CodingTests.state()
    var directory = KeptDirectory()
    for (number, list) in state.lists.enumerated() {
      if number == 0 {
        directory.short[list.path] = ListPiece(list.elements)
      } else {
        directory.lists[list.path] = KeptDirectory.List(number: UInt64(number) << 40, pieces: [3, 1, .max])
      }
    }
    #expect(directory.lists.count >= 1)
    let words = RecordWords()
    let bytes = directory.encoded(words)
    #expect(try KeptDirectory(decoding: bytes, words) == directory)
    for count in bytes.indices { _ = try? KeptDirectory(decoding: Array(bytes.prefix(count)), words) }
  }

  @Test func `stamps of every time and replica come back`() throws {
    var random = SeededGenerator.forTest()
    let words = RecordWords()
    for _ in 0..<2_000 {
      var record = ObjectRecord(node: Node(isMade: true))
      let stamps = (0..<random.below(6)).map { _ in
        Stamp(time: random.next() >> UInt64(random.below(64)), replica: ReplicaID(random.next() >> UInt64(random.below(64)) | 1))
      }
      var state = MemoryState()
      let object = ObjectIdentity("Thing", .int(1))
      for (number, stamp) in stamps.enumerated() {
        let action: SyncModel.Operation.Action =
          random.oneIn(3) ? .add("n", Int64(number)) : .set(Name("p\(random.below(3))"), .int(Int64(number)), isDefault: random.oneIn(3))
        _ = Merge.apply(SyncModel.Operation(object, epoch: .zero, action), at: stamp, seq: Seq(random.next() >> 20), to: &state)
      }
      record = state.record(of: object) ?? record
      #expect(try ObjectRecord(decoding: record.encoded(words), words) == record)
    }
  }

  @Test func `damaged bytes are an error, whatever they are`() throws {
    var random = SeededGenerator.forTest()
    let state = CodingTests.state()
    let words = RecordWords()
    let bytes = state.record.encoded(words)
    for count in bytes.indices {
      #expect(throws: CodingError.self) { try ObjectRecord(decoding: Array(bytes.prefix(count)), words) }
    }
    for _ in 0..<2_000 {
      var damaged = bytes
      damaged[random.below(damaged.count)] ^= UInt8(1 << random.below(8))
      _ = try? ObjectRecord(decoding: damaged, words)
      var names = words.encoded()
      names[random.below(names.count)] ^= UInt8(1 << random.below(8))
      guard let other = try? RecordWords(decoding: names) else { continue }
      _ = try? ObjectRecord(decoding: bytes, other)
    }
  }

  @Test func `names and replicas beyond those that a file numbers are written where they are named`() throws {
    let words = RecordWords()
    var state = MemoryState()
    let object = ObjectIdentity("Thing", .int(1))
    for number in 0..<RecordWords.namesMax + 3 {
      let stamp = Stamp(milliseconds: UInt64(number + 1), counter: 0, replica: ReplicaID(UInt64(number + 1)))
      let action = SyncModel.Operation.Action.set(Name("property \(number)"), .int(1), isDefault: false)
      _ = Merge.apply(SyncModel.Operation(object, epoch: .zero, action), at: stamp, seq: Seq(1), to: &state)
    }
    let record = try #require(state.record(of: object))
    let bytes = record.encoded(words)
    #expect(try ObjectRecord(decoding: bytes, try RecordWords(decoding: words.encoded())) == record)
  }
}
