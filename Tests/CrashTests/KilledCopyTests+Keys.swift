#if Encryption
import CrashSamples
import Foundation
import StorageInterface
import StorageSQLite
import Testing
import VivariumTestSupport

extension KilledCopyTests {
  /// Whenever it is killed, the file has the old key or the new one, and everything that was in it.
  @Test func aChangeOfKeyHappensOrDoesNotWheneverItIsKilled() throws {
    var random = SeededGenerator.forTest("aChangeOfKeyHappensOrDoesNotWheneverItIsKilled")
    let folder = TemporaryDirectory("keys")
    let path = folder.file("store").path
    var acknowledged = try write(30, backend(path, after: 0))
    var changes: Int64 = 0
    for round in 0..<environmentNumber("VIVARIUM_CRASH_ROUNDS", default: 10) {
      let child = try WritingChild(changingKeyOf: path, from: changes + 1)
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

  private func backend(_ path: String, after change: Int64) throws -> SQLiteBackend {
    SQLiteBackend(path: path, key: try CrashedStore.key(afterChange: change))
  }
}
#endif
