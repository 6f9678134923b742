import CrashSamples
import Foundation
import StorageInterface
import Testing
import VivariumTestSupport

/// A writer that was stopped (SIGSTOP) during a write is not dead: nobody takes over its lock, a waiting writer gets a timeout, and
/// readers go on.
@Suite(.serialized) struct StoppedWriterTests {
  @Test(arguments: CrashedStore.allCases) func whoWaitsForAStoppedWriterIsToldAndNothingIsLost(_ store: CrashedStore) throws {
    let folder = TemporaryDirectory("stopped")
    let path = folder.file("store").path
    let engine = try store.backend(path).open(OpenOptions(historyLimit: 1_000_000))
    defer { engine.close() }
    try CrashLedger.prepare(engine)
    let child = try WritingChild(store, path, 1)
    #expect(child.number() == 1)
    var hasWaited = false
    // It writes nearly all the time: sooner or later it is stopped with the right to write.
    for _ in 0..<1_000 where !hasWaited {
      child.stop()
      do throws(StorageError) {
        try engine.beginWrite(.after(.milliseconds(50))).end()
      } catch {
        #expect(error.code == .writeTimeout && error.scope == .statement)
        let read = try engine.beginRead()
        try CrashLedger.check(read, acknowledged: [1: 1])
        read.end()
        hasWaited = true
      }
      child.goOn()
      #expect(child.number() != nil)
    }
    #expect(hasWaited)
    // Both write on.
    #expect(try CrashLedger.commitNext(2, engine, .full) == 1)
    for _ in 0..<3 { #expect(child.number() != nil) }
    child.kill()
    let last = child.lastWord()
    let read = try engine.beginRead()
    defer { read.end() }
    try CrashLedger.check(read, acknowledged: [1: last, 2: 1])
  }
}
