#if Encryption
import CVivariumSQLite
import Foundation
import StorageEncryption
import StorageInterface
import Testing
import Vivarium
import VivariumTestSupport
@testable import StorageSQLite

/// Reads of the main file that are not of one whole page.
@Suite struct PartialReadTests {
  private static let pageSize = 4_096

  /// A page of a long value is read past SQLite's cache from 3.45 on, and no more of it than is needed.
  @Test func aPartOfAPageIsThatPartOfTheWhole() throws {
    let place = Place()
    let path = place.folder.file("copy").path
    try place.filled(60).writeCopy(to: path)
    let connection = try Connection.ours(place.file(path), isReadOnly: false)
    _ = try connection.readVersions()
    let file = try OpenFile(SQLITE_FCNTL_FILE_POINTER, of: connection)
    let count = try Data(contentsOf: URL(fileURLWithPath: path)).count / PartialReadTests.pageSize
    #expect(count > 10)
    for page in 0..<count {
      let start = page * PartialReadTests.pageSize
      let whole = file.read(PartialReadTests.pageSize, at: start)
      #expect(whole.code == SQLITE_OK)
      for part in [0..<2_000, 0..<4_068, 20..<90, 90..<110, 500..<501, 4_000..<4_096] {
        let found = file.read(part.count, at: start + part.lowerBound)
        #expect(found.code == SQLITE_OK && found.bytes == Array(whole.bytes[part]), "page \(page + 1), \(part)")
      }
    }
    // SQLITE_IOCAP_SUBPAGE_READ, from 3.48 on: with it SQLite reads parts where its cache is better.
    #expect(file.characteristics & 0x8000 == 0)
  }

  @Test func aLongValueIsReadFromTheMainFile() throws {
    let place = Place()
    let path = place.folder.file("copy").path
    let photo = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
    let store = try place.filled(3)
    try store.write {
      let patient = Patient()
      patient.number = 1_000
      patient.photo = photo
      try store.add(patient)
    }
    try store.writeCopy(to: path)
    let copy = try Store(.sqlite(path, key: place.key, models: Patient.self))
    #expect(copy.objects(Patient.self).map(\.photo).contains(photo))
  }

  /// SQLite takes what cannot be read at the end of a file for zeroes.
  @Test func aPageThatWasCutOffIsDamaged() throws {
    let place = Place()
    let path = place.folder.file("copy").path
    try place.filled(60).writeCopy(to: path)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let other = place.folder.file("cut").path
    try whole.dropLast(5_000).write(to: URL(fileURLWithPath: other))
    let connection = try Connection(place.file(other), flags: SQLITE_OPEN_READONLY)
    let file = try OpenFile(SQLITE_FCNTL_FILE_POINTER, of: connection)
    let count = whole.count / PartialReadTests.pageSize
    for (page, code) in [(count - 3, SQLITE_OK), (count - 2, SealedFile.damage), (count - 1, SealedFile.damage)] {
      let start = page * PartialReadTests.pageSize
      #expect(file.read(PartialReadTests.pageSize, at: start).code == code)
      #expect(file.read(100, at: start).code == code)
    }
  }

  @Test func aCutFileIsRefusedBesideALogAndGetsNoOtherKey() throws {
    let place = Place()
    do { _ = try place.filled(100) }
    let store = try Store(place.configuration)
    try store.write {
      let patient = Patient()
      patient.number = 1_000
      try store.add(patient)
    }
    let whole = try Data(contentsOf: URL(fileURLWithPath: place.path))
    let other = try place.killed(place.path)
    let expected = try place.picture(nil, place.key)
    #expect(try place.picture(place.killed(other), place.key) == expected)
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: other))
    #expect(code { try place.picture(other, place.key) } == "corrupt")
    #expect(code { try Store.changeKey(of: .sqlite(other, key: place.key), to: nil) } == "corrupt")
    #expect(try Data(contentsOf: URL(fileURLWithPath: other)).count == whole.count / 2)
    withExtendedLifetime(store) {}
  }
}
#endif
