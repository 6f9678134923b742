import CVivariumSQLite
import Foundation
import StorageConformance
import StorageInterface
import StorageSQLite
import Testing
import VivariumTestSupport

/// Every rule of the storage interface, put to SQLite.
@Suite struct ConformanceTests {
  @Test(arguments: StorageConformance.allChecks)
  func check(_ check: ConformanceCheck) async throws {
    let directory = TemporaryDirectory("sqlite-conformance")
    let numbers = Counter()
    let subject = ConformanceSubject(
      { SQLiteBackend(path: directory.file("store-\(numbers.next()).sqlite").path) }, persists: true,
      openFile: { SQLiteBackend(path: $0) },
      makeNewer: { backend in try Raw(backend.location).execute("PRAGMA user_version = 1000") })
    try await check.run(subject)
  }
}
