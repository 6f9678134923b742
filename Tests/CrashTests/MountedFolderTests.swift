#if os(Linux)
import CrashSamples
import Foundation
import StorageInterface
import Testing
import VivariumTestSupport

/// Two processes write one store by two paths, since its folder is mounted at another place, and are killed: nothing is lost.
@Suite(.serialized) struct MountedFolderTests {
  @Test(arguments: CrashedStore.allCases) func writersByBothPathsLoseNothing(_ store: CrashedStore) throws {
    let folder = TemporaryDirectory("mounts")
    let (first, second) = (folder.file("first"), folder.file("second"))
    for url in [first, second] { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }
    guard let mount = BindMount(first.path, at: second.path) else { return }
    defer { withExtendedLifetime(mount) {} }
    let writers = [try WritingChild(store, first.path + "/store", 1), try WritingChild(store, second.path + "/store", 2)]
    // Each has committed beside the other.
    for _ in 0..<10 { for writer in writers { _ = writer.number() } }
    for writer in writers { writer.kill() }
    let acknowledged = [Int64(1): writers[0].lastWord(), 2: writers[1].lastWord()]
    #expect(acknowledged.values.allSatisfy { $0 >= 10 })
    for path in [first.path, second.path] {
      let engine = try store.backend(path + "/store").open(OpenOptions(historyLimit: 1_000_000))
      defer { engine.close() }
      let read = try engine.beginRead()
      defer { read.end() }
      try CrashLedger.check(read, acknowledged: acknowledged)
    }
  }
}
#endif
