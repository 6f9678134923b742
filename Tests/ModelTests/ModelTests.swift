import Foundation
import StorageConformance
import StorageInterface
import StorageLMDB
import StorageMemory
import StorageSQLite
import Testing
import VivariumTestSupport

/// Random histories on every engine beside the plain one. `VIVARIUM_MODEL_STEPS` makes them longer,
/// `VIVARIUM_MODEL_RUNS` makes more of them, `VIVARIUM_SEED` repeats one.
@Suite struct ModelTests {
  @Test func memoryAgreesWithThePlainEngine() throws {
    try play { _ in ConformanceSubject({ MemoryBackend() }) }
  }

  @Test func lmdbAgreesWithThePlainEngine() throws {
    try play { folder in ConformanceSubject({ LMDBBackend(path: folder.file("lmdb").path) }, persists: true) }
  }

  @Test func sqliteAgreesWithThePlainEngine() throws {
    try play { folder in ConformanceSubject({ SQLiteBackend(path: folder.file("sqlite").path) }, persists: true) }
  }

  private func play(_ name: String = #function, _ subject: (TemporaryDirectory) -> ConformanceSubject) throws {
    let first = SeededGenerator.forTest(name).seed
    for run in 0..<environmentNumber("VIVARIUM_MODEL_RUNS", default: 1) {
      let folder = TemporaryDirectory("model")
      let history = try ModelRun(subject(folder), seed: first &+ UInt64(run))
      try history.play(environmentNumber("VIVARIUM_MODEL_STEPS", default: 1_000))
    }
  }
}
