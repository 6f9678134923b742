#if Encryption
import CrashSamples
import Foundation
import StorageInterface
import Testing
import VivariumTestSupport

extension KilledCopyTests {
  /// Whenever it is killed, the file has the old key or the new one, and everything that was in it.
  @Test(arguments: [CrashedStore.encrypted, .encryptedLMDB])
  func aChangeOfKeyHappensOrDoesNotWheneverItIsKilled(_ store: CrashedStore) throws {
    var random = SeededGenerator.forTest("aChangeOfKeyHappensOrDoesNotWheneverItIsKilled \(store)")
    func backend(_ path: String, after change: Int64) throws -> any KeyChanging {
      store.backend(path, try CrashedStore.key(afterChange: change))
    }
    let folder = TemporaryDirectory("keys")
    let path = folder.file("store").path
    var acknowledged = try write(30, backend(path, after: 0))
    var changes: Int64 = 0
    for round in 0..<environmentNumber("VIVARIUM_CRASH_ROUNDS", default: 10) {
      let child = try WritingChild(changingKeyOf: store, path, from: changes + 1)
      for _ in 0..<random.below(3) { _ = child.number() }
      spin(random.below(60_000))
      child.kill()
      changes = max(changes, child.lastWord())
      // It may have been killed after the change and before it said so.
      if case .some = try? backend(path, after: changes + 1).open(OpenOptions(isReadOnly: true)).close() { changes += 1 }
      try check(backend(path, after: changes), acknowledged, "round \(round)")
      acknowledged = try write(1, backend(path, after: changes))
      // Done again, it is finished, and removes what was left.
      try backend(path, after: changes).changeKey(to: CrashedStore.key(afterChange: changes + 1)) { _ in .proceed }
      changes += 1
      try check(backend(path, after: changes), acknowledged, "round \(round), again")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.contains(".new") }
      #expect(names.isEmpty, "round \(round)")
    }
  }

  /// Who opened a lone data file found no coordination file, and could tell nobody.
  @Test func theKeyIsKeptWhileSomebodyReadsWhatWasNeverWrittenInItsPlace() throws {
    let store = CrashedStore.encryptedLMDB
    let folder = TemporaryDirectory("keys")
    let (path, copy) = (folder.file("store").path, folder.file("copy").path)
    let acknowledged = try write(30, store.backend(path))
    let engine = try store.backend(path).open(OpenOptions(isReadOnly: true))
    try #require(engine.powers.copying).writeCopy(to: copy, .unchanged) { _ in .proceed }
    engine.close()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.hasPrefix("copy") } == ["copy"])
    let child = try WritingChild(holding: store, copy)
    #expect(child.number() != nil)
    let backend = store.backend(copy, try CrashedStore.key(afterChange: 0))
    let error = #expect(throws: StorageError.self) { try backend.changeKey(to: CrashedStore.key(afterChange: 1)) { _ in .proceed } }
    #expect(error?.code == .alreadyOpen)
    try check(backend, acknowledged, "refused")
    child.kill()
    _ = child.lastWord()
    try backend.changeKey(to: CrashedStore.key(afterChange: 1)) { _ in .proceed }
    try check(store.backend(copy, CrashedStore.key(afterChange: 1)), acknowledged, "changed")
  }
}
#endif
