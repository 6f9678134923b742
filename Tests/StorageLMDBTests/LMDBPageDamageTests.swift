import Foundation
import StorageInterface
import Testing
import VivariumTestSupport

@testable import StorageLMDB

/// Pages that this adapter reads by itself, with whatever is in them.
struct LMDBPageDamageTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test func damagedPagesAreFollowedWithinTheFile() throws {
    var random = SeededGenerator.forTest()
    let path = scratch.file("store")
    let engine = try LMDBBackend(path: path).open(OpenOptions())
    try DamageSample.fill(engine, count: 60, &random)
    engine.close()
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let damaged = scratch.file("damaged")
    for round in 0..<environmentNumber("VIVARIUM_DAMAGE_ROUNDS", default: 200) {
      var bytes = whole
      for _ in 0...random.below(3) { damagePage(&bytes, &random) }
      if random.oneIn(5) { bytes.removeLast(random.below(bytes.count)) }
      try Data(bytes).write(to: URL(fileURLWithPath: damaged))
      _ = try? LMDBHeader(path: damaged).check(path: damaged)
      let file = open(damaged, O_RDONLY)
      try #require(file >= 0)
      defer { close(file) }
      for meta in LMDBMeta.both(file) {
        var walk = LMDBPageWalk(file: file, pageSize: meta.pageSize, pageCount: UInt64(bytes.count / meta.pageSize))
        for root in meta.roots { _ = walk.isWhole(root, depth: 0) }
        if let root = meta.dataRoot { for key in UInt8(0)...2 { _ = walk.value(of: [key], root: root) } }
        #expect(walk.readError == nil, "round \(round)")
      }
    }
  }

  /// A number in the header or among the nodes of a page.
  private func damagePage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let page = random.below(bytes.count / 4_096) * 4_096
    var part = Array(bytes[page..<page + 4_096])
    random.damage(&part)
    part += [UInt8](repeating: 0, count: 4_096)
    bytes.replaceSubrange(page..<page + 4_096, with: part.prefix(4_096))
  }

  /// One of the two has the newest commit. Where the other's copy is in its place, that commit is gone, and all is right in itself.
  @Test func aMetaPageInThePlaceOfTheOtherIsRefused() throws {
    let path = scratch.file("store")
    do {
      let store = try LMDBStore(path: path)
      for version in 1...4 { try store.put([("a", "\(version)")], UInt64(version), .full) }
    }
    let whole = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let size = try #require(LMDBMeta(Array(whole.prefix(152)))).pageSize
    let pages = [whole[..<size], whole[size..<size * 2]]
    for order in [[0, 0], [1, 1], [1, 0]] {
      let damaged = scratch.file("damaged \(order[0]) \(order[1])")
      let bytes = pages[order[0]] + pages[order[1]] + whole[(size * 2)...]
      try Data(bytes).write(to: URL(fileURLWithPath: damaged))
      let refused = #expect(throws: StorageError.self) { _ = try LMDBStore(path: damaged) }
      #expect(refused?.code == .corrupt, "\(order)")
    }
    #expect(try LMDBStore(path: path).text("a") == "4")
  }

  @Test func aPageThatLeadsBackIsFollowedOnce() throws {
    // A branch page whose two children are itself.
    var page = [UInt8](repeating: 0, count: 4_096)
    func put(_ number: some FixedWidthInteger, _ at: Int) {
      withUnsafeBytes(of: number.littleEndian) { page.replaceSubrange(at..<at + $0.count, with: $0) }
    }
    put(UInt16(1), 10)
    put(UInt16(16 + 4), 12)
    put(UInt16(1_000), 16)
    put(UInt16(2_000), 18)
    let path = scratch.file("circle")
    try Data(page + [UInt8](repeating: 0, count: 4_096 * 40)).write(to: URL(fileURLWithPath: path))
    let file = open(path, O_RDONLY)
    defer { close(file) }
    var walk = LMDBPageWalk(file: file, pageSize: 4_096, pageCount: 41)
    let (isWhole, value) = (walk.isWhole(0, depth: 0), walk.value(of: [5], root: 0))
    #expect(!isWhole && value == nil)
  }
}
