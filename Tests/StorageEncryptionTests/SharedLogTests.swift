#if Encryption
import Foundation
import StorageEncryption
import Testing
import Vivarium
import VivariumTestSupport
@testable import StorageSQLite

/// A log that several connections write, as those of several processes do.
@Suite struct SharedLogTests {
  @Test func aConnectionReadsWhatAnotherWroteInThePlaceOfItsOwnLastPage() throws {
    let place = Place()
    let path = place.folder.file("copy").path
    try place.filled(5).writeCopy(to: path)
    let file = StoreFile(path: path, seal: FileSeal(place.key))
    let first = try Connection.ours(file, isReadOnly: false)
    let second = try Connection.ours(file, isReadOnly: false)
    try first.execute("CREATE TABLE one (a); CREATE TABLE other (b); PRAGMA wal_checkpoint(TRUNCATE)")
    // Each commit writes one page, to the same place of an empty log.
    try first.execute("INSERT INTO one VALUES (1); PRAGMA wal_checkpoint(TRUNCATE)")
    try second.execute("INSERT INTO other VALUES (2)")
    let statement = try first.take(text: "SELECT b FROM other")
    defer { first.finish(statement) }
    #expect(try first.step(statement, "read"))
    #expect(statement.int64(0) == 2)
  }
}
#endif
