import CVivariumLMDB
import Foundation
import StorageConformance
import StorageInterface
import StorageLMDB
import Testing

/// Every rule of the storage interface.
struct LMDBConformanceTests {
  /// One directory for all; each store has a file of its own in it.
  private static let folder = try? Scratch()

  private static func makeSubject() throws -> ConformanceSubject {
    let folder = try #require(folder).path
    return ConformanceSubject(
      { LMDBBackend(path: "\(folder)/\(UUID().uuidString)") }, persists: true,
      openFile: { LMDBBackend(path: $0) }, makeNewer: { try makeNewer($0.location) })
  }

  /// Writes a record with the format of a build to come.
  private static func makeNewer(_ path: String) throws {
    try putEntry(path, [0], Array("VIVARIUM".utf8) + [99, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])
  }

  @Test(arguments: StorageConformance.allChecks) func theEngineKeepsTheRule(_ check: ConformanceCheck) async throws {
    try await check.run(LMDBConformanceTests.makeSubject())
  }
}
