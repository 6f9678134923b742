#if os(Linux)
import CrashSamples
import Foundation
import StorageInterface
import Testing
import VivariumTestSupport

/// Files that are made beside, and get their name when they are complete.
extension PowerCutTests {
  /// The call at which the power goes: first the last ones, which finish what was begun, then evenly over the whole run, then at random.
  private func call(_ cut: Int, of calls: Int, _ random: inout SeededGenerator) -> Int {
    let last = min(4, calls)
    if cut < last { return calls - cut }
    let even = 1 + (cut - last) * max(1, calls / Self.cuts)
    return even <= calls ? even : 1 + random.below(calls)
  }

  private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// That nothing is left in a folder of what was never complete.
  private func expectNoLeftovers(_ folder: URL, _ what: Comment) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.allSatisfy { !$0.contains(".new-") }, what)
  }

  #if Encryption
  @Test(arguments: [CrashedStore.encrypted, .encryptedLMDB])
  func aStoreHasItsOldKeyOrItsNewOneAfterAPowerCut(store: CrashedStore) throws {
    var random = SeededGenerator.forTest("keys of \(store)")
    let folder = TemporaryDirectory("keys")
    let path = Child.path(in: folder)
    _ = try Child.run(store, path, Self.transactions, [:])
    // From key to key, to none, and back to one.
    for change in Int64(1)...3 {
      let before = folder.file("before-\(change)").path
      try FileManager.default.copyItem(atPath: path, toPath: before)
      let whole = try Child.run(store, keyOf: path, change, [:])
      try #require(whole.done == change && whole.calls > 4)
      for cut in 0..<Self.cuts {
        try cutChange(change, of: store, before, at: call(cut, of: whole.calls, &random), random.next())
      }
    }
  }

  private func cutChange(_ change: Int64, of store: CrashedStore, _ before: String, at call: Int, _ seed: UInt64) throws {
    let what = "\(store), change \(change), cut at \(call), seed \(seed)"
    let folder = TemporaryDirectory("key")
    let path = Child.path(in: folder)
    try FileManager.default.copyItem(atPath: before, toPath: path)
    let old = store.backend(path, try CrashedStore.key(afterChange: change - 1))
    let new = store.backend(path, try CrashedStore.key(afterChange: change))
    let outcome = try Child.run(store, keyOf: path, change, Child.cut(at: call, seed))
    #expect(outcome.errors.isEmpty, "\(what)")
    let engine = try? new.open(OpenOptions(isReadOnly: true, createsIfMissing: false))
    engine?.close()
    #expect(outcome.done == nil || engine != nil, "\(what)")
    try check(engine == nil ? old : new, acknowledged: Int64(Self.transactions), "\(what)")
    // Done again, it is finished, and removes what was left.
    let again = try Child.run(store, keyOf: path, change, [:])
    #expect(again.done == change, "\(what): \(again.errors)")
    try check(new, acknowledged: Int64(Self.transactions) + 1, "\(what), again")
    try expectNoLeftovers(folder.url, "\(what)")
  }
  #endif

  @Test(arguments: CrashedStore.allCases)
  func anIncrementIsWholeOrNotThereAfterAPowerCut(store: CrashedStore) throws {
    var random = SeededGenerator.forTest("increments of \(store)")
    let chain = try CountedChain(store)
    try chain.commit(Self.transactions)
    let file = chain.folder.file("increment").path
    let whole = try Child.run(chain, incrementTo: file, [:])
    let number = try chain.numberOfRestored([file])
    try #require(whole.calls > 2 && number != nil)
    for cut in 0..<Self.cuts {
      try FileManager.default.removeItem(atPath: file)
      let (at, seed) = (call(cut, of: whole.calls, &random), random.next())
      let what: Comment = "\(store), cut at \(at), seed \(seed)"
      let outcome = try Child.run(chain, incrementTo: file, Child.cut(at: at, seed))
      #expect(outcome.errors.isEmpty && (outcome.done == nil || isThere(file)), what)
      if isThere(file) {
        #expect(try chain.numberOfRestored([file]) == number, what)
        try FileManager.default.removeItem(atPath: file)
      }
      #expect(try Child.run(chain, incrementTo: file, [:]).done == whole.done, what)
      #expect(try chain.numberOfRestored([file]) == number, what)
      try expectNoLeftovers(chain.folder.url, what)
    }
  }

  @Test(arguments: CrashedStore.allCases)
  func aRestoredStoreIsWholeOrNotThereAfterAPowerCut(store: CrashedStore) throws {
    var random = SeededGenerator.forTest("restorations of \(store)")
    let chain = try CountedChain(store)
    try chain.writeIncrements(3)
    let path = chain.folder.file("restored").path
    let whole = try Child.run(chain, restoring: path, [:])
    let number = try chain.number(path)
    try #require(whole.calls > 4 && number != nil)
    for cut in 0..<Self.cuts {
      try store.backend(path).remove()
      let (at, seed) = (call(cut, of: whole.calls, &random), random.next())
      let what: Comment = "\(store), cut at \(at), seed \(seed)"
      let outcome = try Child.run(chain, restoring: path, Child.cut(at: at, seed))
      #expect(outcome.errors.isEmpty && (outcome.done == nil || isThere(path)), what)
      if isThere(path) {
        try RestartedSystem.play(path)
        #expect(try chain.number(path) == number, what)
        try store.backend(path).remove()
      }
      #expect(try Child.run(chain, restoring: path, [:]).done == whole.done, what)
      #expect(try chain.number(path) == number, what)
      try expectNoLeftovers(chain.folder.url, what)
    }
  }
}
#endif
