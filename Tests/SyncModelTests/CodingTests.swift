import StoreValues
import SyncModel
import Testing
import VivariumTestSupport

import struct Foundation.Data
import struct Foundation.UUID

@Suite struct CodingTests {
  static let one = ReplicaID(0x0102_0304_0506_0708)
  static let two = ReplicaID(0xAABB)
  static let old = Stamp(milliseconds: 900, counter: 2, replica: two)

  /// Every kind of operation once, with every kind of key and of value.
  static func everything() -> Changeset {
    let thing = ObjectIdentity("Thing", .int(-3))
    let named = ObjectIdentity("Person", .string("Ann"))
    let unnamed = ObjectIdentity("Note", .created(two, ObjectKey(77)))
    let byId = ObjectIdentity("Thing", .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))))
    let byObjectId = ObjectIdentity("Thing", .objectId(.zero))
    let position = ListPosition([.init(gap: -1024, bunch: old, offset: 0), .init(gap: 0, bunch: old.advanced(by: 1), offset: -2)])
    let id = ElementID(one, 5)
    let list = PathStep(.list("items"), epoch: old)
    func plain(_ value: Value) -> CellValue { PlainValue(value).map { .plain($0) } ?? .null }
    var map = SortedTable<Name, CellValue>()
    map["a"] = .list([.null, .link(LinkTarget(named, epoch: old)), plain(.bool(true))])
    map["é"] = .int(.min)
    var operations: [SyncModel.Operation] = [
      .init(thing, epoch: .zero, .create),
      .init(thing, epoch: .zero, .set("name", .string("x"), isDefault: true)),
      .init(thing, epoch: .zero, .add("n", -5)),
      .init(named, epoch: old, .delete),
      .init(unnamed, epoch: .zero, path: [PathStep(.embedded("address"), epoch: old)], .make),
      .init(unnamed, epoch: .zero, path: [PathStep(.embedded("address"), epoch: old)], .remove),
      .init(byId, epoch: .zero, path: [list], .insert(id, at: position, .link(LinkTarget(thing)))),
      .init(byId, epoch: .zero, path: [list], .setElement(id, near: .none, .map(map))),
      .init(byId, epoch: .zero, path: [list], .move(id, from: position, to: ListPosition([.init(gap: .max, bunch: .zero, offset: .min)]))),
      .init(byId, epoch: .zero, path: [list], .erase(id, near: position)),
      .init(byId, epoch: .zero, path: [list, PathStep(.element(id), epoch: old, near: position)], .set("f", .null, isDefault: false)),
      .init(byObjectId, epoch: .zero, path: [PathStep(.set("tags"), epoch: .zero)], .insertMember(.string("t"))),
      .init(byObjectId, epoch: .zero, path: [PathStep(.set("tags"), epoch: .zero)], .eraseMember(.string("t"))),
      .init(byObjectId, epoch: .zero, path: [PathStep(.set("tags"), epoch: .zero)], .clear),
      .init(thing, epoch: .zero, path: [PathStep(.map("m"), epoch: old)], .setEntry("k", .int(1))),
      .init(thing, epoch: .zero, path: [PathStep(.map("m"), epoch: old)], .eraseEntry("k")),
      .init(thing, epoch: .zero, path: [PathStep(.map("m"), epoch: old), PathStep(.entry("k"), epoch: old)], .make),
    ]
    let values: [Value] = [
      .bool(false), .float(-1.5), .double(-0.0), .data(Data([0, 255])), .date(Timestamp(word: -9)), .objectId(.zero),
      .uuid(UUID(uuid: (16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1))), .decimal(Decimal128("1.50") ?? .zero),
      .float(.nan), .double(.nan), .string(""), .int(.max),
    ]
    for value in values { operations.append(.init(thing, epoch: .zero, .set("v", plain(value), isDefault: false))) }
    return Changeset(
      clientSeq: 300, baseSeq: Seq(7), isContinued: true, schemaHash: 0xFEED_0000_0000_0001,
      first: Stamp(milliseconds: 1_000, counter: 0, replica: one), operations: operations)
  }

  @Test func `a changeset comes back from its bytes`() throws {
    let changeset = CodingTests.everything()
    #expect(changeset.operations.allSatisfy { $0.isWellFormed })
    #expect(try Changeset(decoding: changeset.encoded()) == changeset)
    let empty = Changeset(clientSeq: 1, baseSeq: .zero, first: CodingTests.old, operations: [])
    #expect(try Changeset(decoding: empty.encoded()) == empty)
  }

  @Test func `a changeset that keeps its bytes is equal to one that does not, and encodes once`() {
    let changeset = CodingTests.everything()
    let keeping = changeset.keepingEncoded()
    #expect(keeping == changeset && keeping.hashValue == changeset.hashValue && keeping.encoded() == changeset.encoded())
    #expect(isShared(keeping.encoded(), keeping.encoded()))
    #expect(!isShared(changeset.encoded(), changeset.encoded()))
  }

  private func isShared(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.withUnsafeBytes { a in b.withUnsafeBytes { b in a.baseAddress == b.baseAddress } }
  }

  @Test func `texts are read whole whether they are ASCII or not, and wrong bytes are an error at their place`() throws {
    for text in ["", "tag", "Größe", "e\u{301}", "\u{FFFD}", "👩‍🚀"] {
      var writer = ByteWriter()
      writer.put(text.utf8)
      var reader = ByteReader(writer.bytes)
      #expect(try Array(reader.text().utf8) == Array(text.utf8))
    }
    for wrong: [UInt8] in [[0x80], [0xF0, 0x90, 0x80], [0x61, 0xC3], [0xED, 0xA0, 0x80]] {
      var reader = ByteReader([0, UInt8(wrong.count)] + wrong)
      _ = try reader.byte()
      #expect(throws: CodingError(.text, at: 1)) { try reader.text() }
    }
  }

  @Test func `a small changeset has the bytes that the documentation explains`() throws {
    let thing = ObjectIdentity("Thing", .int(-3))
    let changeset = Changeset(
      clientSeq: 300, baseSeq: Seq(7), schemaHash: 1, first: Stamp(milliseconds: 1_000, counter: 0, replica: CodingTests.one),
      operations: [
        .init(thing, epoch: .zero, .create), .init(thing, epoch: .zero, .set("name", .string("Ann"), isDefault: false)),
        .init(thing, epoch: .zero, path: [PathStep(.list("items"), epoch: CodingTests.old)],
          .insert(ElementID(CodingTests.one, 5), at: ListPosition([.init(gap: 0, bunch: CodingTests.old, offset: 1)]), .int(-1))),
      ])
    #expect(hex(changeset.encoded()) == Golden.small)
    #expect(try Changeset(decoding: bytes(Golden.small)) == changeset)
  }

  @Test func `what is written stays as it is, byte for byte`() throws {
    #expect(hex(CodingTests.everything().encoded()) == Golden.everything)
    #expect(try Changeset(decoding: bytes(Golden.everything)) == CodingTests.everything())
    let state = CodingTests.state()
    #expect(hex(state.encoded()) == Golden.state)
    #expect(hex(state.record.encoded(values: false)) == Golden.recordWithoutValues)
    let piece = ListPiece(state.lists.first?.elements ?? [])
    #expect(hex(piece.encoded()) == Golden.piece)
    #expect(try ObjectState(decoding: bytes(Golden.state)) == state)
    #expect(try ListPiece(decoding: bytes(Golden.piece)) == piece)
  }

  /// An object on which something of everything was done and undone.
  static func state() -> ObjectState {
    var author = Author(MixedPrograms().state, Stamp(milliseconds: 10, counter: 0, replica: one))
    author.act(.set("link", author.link(2), isDefault: true))
    author.act(.add("n", 4))
    author.act(1, [.set("S")], .eraseMember(.int(1)))
    author.act(1, [.map("M")], .eraseEntry("k"))
    author.act(1, [.map("M")], .setEntry("j", .null))
    author.act(1, [.map("M"), .entry("j")], .make)
    author.act(1, [.embedded("E")], .remove)
    author.act(1, [.list("L")], .erase(author.element(0, [.list("L")]).id, near: .none))
    let element = author.element(0, [.list("L")]).id
    author.act(1, [.list("L")], .setElement(element, near: .none, .null))
    author.act(1, [.list("L"), .element(element)], .make)
    author.insert(8, at: 0, .string("deep"), in: [.list("L"), .element(element), .list("inner")])
    return Merge.objectState(of: object(1), in: author.state) ?? ObjectState(record: ObjectRecord(), lists: [])
  }

  @Test func `a record without values keeps all that merging needs`() throws {
    let state = CodingTests.state()
    let bare = try ObjectState(decoding: state.encoded(values: false))
    #expect(try ObjectState(decoding: state.encoded()) == state)
    #expect(bare != state)
    #expect(bare.lists.map { $0.elements.map(\.position) } == state.lists.map { $0.elements.map(\.position) })
    // The same operations have the same outcome on both, told by their effects.
    let operations = SlotPrograms().history + MixedPrograms().history + MixedPrograms().programs(12, ReplicaID(4)).flatMap(\.operations)
    for (stamp, operation) in operations {
      var (full, partial) = (MemoryState(), MemoryState())
      Merge.replace(object(1), with: state, in: &full)
      Merge.replace(object(1), with: bare, in: &partial)
      let effects = Merge.apply(operation, at: stamp, seq: Seq(9), to: &full)
      #expect(Merge.apply(operation, at: stamp, seq: Seq(9), to: &partial).count == effects.count)
    }
  }

  @Test func `bytes that are cut off, or go on, are errors that say where`() {
    let whole = CodingTests.everything().encoded()
    for count in 0..<whole.count {
      let error = #expect(throws: CodingError.self) { try Changeset(decoding: Array(whole[..<count])) }
      #expect(error.map { $0.position <= count } ?? false)
    }
    #expect(throws: CodingError(.trailing, at: whole.count)) { try Changeset(decoding: whole + [0]) }
    #expect(throws: CodingError(.format(2), at: 0)) { try Changeset(decoding: [2] + whole.dropFirst()) }
    let state = CodingTests.state().encoded()
    for count in 0..<state.count {
      #expect(throws: CodingError.self) { try ObjectState(decoding: Array(state[..<count])) }
    }
  }

  @Test func `bytes that are changed or made up give a value or an error, and what is a value can be merged`() {
    var random = SeededGenerator.forTest()
    let samples = [CodingTests.everything().encoded(), CodingTests.state().encoded(), bytes(Golden.piece)]
    var values = 0
    for _ in 0..<environmentNumber("VIVARIUM_SYNC_FUZZ", default: 5_000) {
      var input = samples[random.below(samples.count)]
      for _ in 0..<(1 + random.below(4)) where !input.isEmpty {
        switch random.below(5) {
        case 0: input.remove(at: random.below(input.count))
        case 1: input.insert(UInt8(random.below(256)), at: random.below(input.count))
        case 2: input[random.below(input.count)] = [0, 1, 0x7F, 0x80, 0xFF][random.below(5)]
        case 3: input = Array(input[..<random.below(input.count)])
        default: input[random.below(input.count)] ^= UInt8(1 << random.below(8))
        }
      }
      var state = MixedPrograms.shared.state
      if let changeset = try? Changeset(decoding: input) {
        values += 1
        for operation in changeset.operations { _ = Merge.unknownReference(in: operation, to: state) }
        Merge.apply(changeset, seq: Seq(5), to: &state)
        #expect((try? Changeset(decoding: changeset.encoded())) == changeset)
      }
      if let read = try? ObjectState(decoding: input) {
        values += 1
        Merge.replace(object(1), with: read, in: &state)
        state.merge(MixedPrograms.shared.history)
        Merge.purge(Purge(stable: Seq(.max), floor: Stamp(time: .max, replica: ReplicaID(.max))), in: &state)
        _ = ShownReader(state: state).all()
        #expect((try? ObjectState(decoding: read.encoded())) == read)
      }
      _ = try? ListPiece(decoding: input)
      _ = try? ObjectRecord(decoding: input)
    }
    #expect(values > 0)
  }

  @Test func `a count asks for no more memory than its bytes can fill`() {
    var input = Array(CodingTests.everything().encoded().prefix(30))
    input += [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]
    #expect(throws: CodingError.self) { try Changeset(decoding: input) }
    #expect(throws: CodingError.self) { try ListPiece(decoding: [1, 1] + Array(repeating: 0xFE, count: 100)) }
  }

  @Test func `values nested too deeply are refused before the stack is`() {
    var value = CellValue.int(1)
    for _ in 0...MixedCoding.depthMax { value = .list([value]) }
    let deep = Changeset(
      clientSeq: 1, baseSeq: .zero, first: CodingTests.old,
      operations: [.init(object(1), epoch: .zero, .set("v", value, isDefault: false))])
    let error = #expect(throws: CodingError.self) { try Changeset(decoding: deep.encoded()) }
    #expect(error?.reason == .depth)
  }

  @Test func `an action that does not fit its path is refused`() {
    let wrong = SyncModel.Operation(object(1), epoch: .zero, path: [PathStep(.set("S"), epoch: .zero)], .create)
    let changeset = Changeset(clientSeq: 1, baseSeq: .zero, first: CodingTests.old, operations: [wrong])
    let error = #expect(throws: CodingError.self) { try Changeset(decoding: changeset.encoded()) }
    #expect(error?.reason == .path)
    var state = MemoryState()
    Merge.apply(changeset, seq: Seq(1), to: &state)
    #expect(Merge.apply(wrong, at: changeset.stamp(of: 0), seq: Seq(1), to: &state).isEmpty && state == MemoryState())
  }
}

func hex(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789abcdef")
  return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}

func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}

extension MixedPrograms {
  static let shared = MixedPrograms()
}
