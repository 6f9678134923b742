#if os(Linux)
import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// A process at its limit of open files.
struct DescriptorLimitTests {
  private static let backends: [@Sendable (String) -> any StorageBackend] = [{ LMDBBackend(path: $0) }, { SQLiteBackend(path: $0) }]

  @Test(arguments: backends.indices) func threadsThatWriteWithFewDescriptorsGetTypedErrorsAndTheStoreGoesOn(_ i: Int) async throws {
    let folder = TemporaryDirectory("descriptors")
    await #expect(processExitsWith: .success) { [path = folder.file("store").path as String, i = i as Int] in
      let engine = try Self.backends[i](path).open(OpenOptions())
      try engine.write { _ in }
      let next = dup(0)
      close(next)
      for spare in [0, 1, 3, 8] {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = rlim_t(Int(next) + spare)
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let threads = (0..<12).map { _ in
          onThread {
            for _ in 0..<5 {
              do { try engine.write(.full) { _ in } } catch {
                #expect([.io, .tooManyReaders].contains((error as? StorageError)?.code), "\(error)")
              }
            }
          }
        }
        for thread in threads { #expect(thread.wait()) }
        limit.rlim_cur = limit.rlim_max
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let before = try engine.latestVersion()
        try engine.write(.full) { _ in }
        #expect(try engine.latestVersion() == before.next)
        try engine.beginRead().end()
      }
    }
  }
}
#endif
