import ColumnStore
import Foundation
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@testable import StorageLMDB

/// Trees whose branches lie below other branches: a deletion may have LMDB look into pages that are not on the way to its key.
struct LMDBDeepTreeTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// A page of a tree, as it lies in the file.
  private struct Page {
    let bytes: [UInt8]

    init(_ file: [UInt8], _ number: Int, _ size: Int) { bytes = Array(file[number * size..<(number + 1) * size]) }

    func word(_ at: Int) -> Int { Int(bytes[at]) | Int(bytes[at + 1]) << 8 }
    var isBranch: Bool { word(10) == 1 }
    var count: Int { (word(12) - 16) / 2 }
    private func node(_ i: Int) -> Int { word(16 + 2 * i) }
    func child(_ i: Int) -> Int { word(node(i)) | word(node(i) + 2) << 16 | word(node(i) + 4) << 32 }
    func key(_ i: Int) -> String { String(decoding: bytes[node(i) + 8..<node(i) + 8 + word(node(i) + 6)], as: UTF8.self) }
  }

  private static func key(_ number: Int) -> String { "key \(100_000 + number) " + String(repeating: ".", count: 69) }

  /// Makes a store with three levels, and wipes the last leaf below the second branch. Returns the keys below the third.
  private func makeDamaged(_ path: String) throws -> [String] {
    let store = try LMDBStore(path: path)
    let size = store.traits.pageSize
    // About ten to a leaf and forty leaves to a branch, where a page has 4 KB.
    let keys = (0..<4_000 * (size / 4_096) * (size / 4_096)).map(LMDBDeepTreeTests.key)
    try store.put(keys.map { ($0, String(repeating: "v", count: 300)) }, 1, .full)
    store.close()
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let metas = [0, size].compactMap { LMDBMeta(Array(bytes[$0..<$0 + 152])) }
    let root = Page(bytes, Int(try #require(metas.max { $0.transaction < $1.transaction }?.dataRoot)), size)
    try #require(root.isBranch && root.count > 4)
    let second = Page(bytes, root.child(1), size)
    try #require(second.isBranch)
    let leaf = second.child(second.count - 1)
    for i in leaf * size..<(leaf + 1) * size { bytes[i] = 0xFF }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return keys.filter { $0 >= root.key(2) && $0 < root.key(3) }
  }

  @Test func aDeletionThatMergesBranchesMeetsNoDamagedPageUnchecked() async throws {
    let path = scratch.file("a")
    let keys = try makeDamaged(path)
    // Without the check LMDB follows what it finds there, to the end of the process.
    await #expect(processExitsWith: .success) { [path = path as String, keys = keys as [String]] in
      let store = try LMDBStore(path: path)
      let refused = #expect(throws: StorageError.self) { try store.put(keys.map { ($0, nil) }, 2, .full) }
      #expect(refused?.code == .corrupt && refused?.message.contains("page ") == true, "\(String(describing: refused))")
      // What is beside is as it was, and a key that is put merges nothing.
      #expect(try store.latestVersion() == Version(1))
      try store.put([(keys[0], "new")], 2, .full)
      #expect(try store.text(keys[0]) == "new" && store.text(keys[1])?.count == 300)
    }
  }

  @Test func deletionsOfAllBranchesGoThrough() throws {
    let store = try LMDBStore(path: scratch.file("a"))
    let keys = (0..<4_000).map(LMDBDeepTreeTests.key)
    try store.put(keys.map { ($0, String(repeating: "v", count: 300)) }, 1)
    store.close()
    // Opened anew, nothing is known of its pages.
    let again = try LMDBStore(path: scratch.file("a"))
    for (number, start) in stride(from: 0, to: keys.count, by: 500).enumerated() {
      try again.put(keys[start..<start + 490].map { ($0, nil) }, UInt64(number + 2))
    }
    #expect(try again.beginSnapshot().keys(from: "").count == 80)
    var faults: [StoreFault] = []
    let snapshot = try again.beginSnapshot()
    try again.verifyPages(snapshot) { faults.append($0) }
    #expect(faults.isEmpty)
  }
}
