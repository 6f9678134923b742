#if Encryption
import Foundation
import StorageConformance
import StorageEncryption
import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// A bit of an encrypted file that is another one is found, wherever it is.
@Suite struct DamagedPageTests {
  /// In a file without free pages every page is somebody's. What the first 100 bytes say is looked at before the key is.
  @Test func oneBitOfEachPageIsFound() throws {
    let place = Place()
    var random = SeededGenerator.forTest("oneBitOfEachPageIsFound")
    let path = place.folder.file("copy").path
    try place.filled(120).writeCopy(to: path)
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let expected = try place.picture(path, place.key)
    let pageSize = 4_096
    #expect(whole.count % pageSize == 0 && whole.count / pageSize > 20)
    for page in 0..<whole.count / pageSize {
      for _ in 0..<3 {
        var damaged = whole
        let (byte, bit) = (page * pageSize + random.below(pageSize), random.below(8))
        damaged[byte] ^= 1 << UInt8(bit)
        let other = place.folder.file("damaged-\(page)-\(byte)").path
        try damaged.write(to: URL(fileURLWithPath: other))
        #expect(throws: StorageError.self, "bit \(bit) of byte \(byte) in page \(page + 1)") {
          let engine = try place.engine(other, place.key)
          let read = try engine.beginRead()
          defer { read.end() }
          let picture = try Picture(read)
          var faults: [StoreFault] = []
          try engine.powers.structure?.verifyStructure(read) { faults.append($0) }
          if !faults.isEmpty { throw StorageError(.corrupt, .engine, "\(faults)") }
          #expect(picture == expected)
        }
        for suffix in ["", "-wal", "-shm", ".coord", ".bell"] { try? FileManager.default.removeItem(atPath: other + suffix) }
      }
    }
  }

  @Test func pagesThatChangedPlacesAreFound() throws {
    let place = Place()
    let path = place.folder.file("copy").path
    try place.filled(120).writeCopy(to: path)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let (a, b) = (5 * 4_096..<6 * 4_096, 9 * 4_096..<10 * 4_096)
    let (first, second) = (bytes[a], bytes[b])
    bytes.replaceSubrange(a, with: second)
    bytes.replaceSubrange(b, with: first)
    let other = place.folder.file("exchanged").path
    try bytes.write(to: URL(fileURLWithPath: other))
    #expect(code { try place.picture(other, place.key) } == "corrupt")
  }

  @Test func whatIsDamagedIsNamed() throws {
    let place = Place()
    let path = place.folder.file("copy").path
    try place.filled(120).writeCopy(to: path)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for page in 3..<bytes.count / 4_096 { bytes[page * 4_096 + 2_000] ^= 1 }
    let other = place.folder.file("damaged").path
    try bytes.write(to: URL(fileURLWithPath: other))
    #expect {
      _ = try place.picture(other, place.key)
    } throws: { error in
      guard let error = error as? StorageError else { return false }
      return error.code == .corrupt && error.message.contains("page ") && error.message.contains(other)
    }
  }

  @Test func aPageIsNeverEncryptedTwiceInTheSameWay() throws {
    let cipher = try EncryptionKey.generate().cipher(salt: Array(repeating: 7, count: 16))
    let plain = [UInt8](repeating: 1, count: 100)
    var nonces: Set<[UInt8]> = []
    for _ in 0..<20_000 {
      var sealed = [UInt8](repeating: 0, count: plain.count + cipher.overhead)
      let isSealed = plain.withUnsafeBytes { plain in
        sealed.withUnsafeMutableBytes { sealed in cipher.seal(plain, UnsafeRawBufferPointer(start: nil, count: 0), to: sealed) }
      }
      #expect(isSealed)
      nonces.insert(Array(sealed.prefix(12)))
    }
    #expect(nonces.count == 20_000)
  }

  /// A rollback journal would be taken for pages that were here before.
  @Test func aJournalThatSomebodyLaidBesideIsNotPlayedBack() throws {
    let place = Place()
    let (path, plain) = (place.folder.file("copy").path, place.folder.file("plain").path)
    let store = try place.filled(20)
    try store.writeCopy(to: path)
    try store.writeCopy(to: plain, encryption: .none)
    let expected = try place.picture(path, place.key)
    // As SQLite writes one: name, one page, pages in the file before, sector and page size; then the page, with a sum that is not looked at
    // before the file is read.
    var journal = Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 16, 0])
    journal.append(Data(count: 512 - journal.count))
    journal.append(Data([0, 0, 0, 1]) + (try Data(contentsOf: URL(fileURLWithPath: plain))).prefix(4_096) + Data(count: 4))
    try journal.write(to: URL(fileURLWithPath: path + "-journal"))
    #expect(code { try place.picture(path, place.key) } != nil)
    try FileManager.default.removeItem(atPath: path + "-journal")
    #expect(try place.picture(path, place.key) == expected)
  }

  /// A commit that was not written to its end when the power went is none; those before it are whole.
  @Test func aLogThatIsCutIsReadToItsLastWholeCommit() throws {
    let place = Place()
    let store = try place.filled(10)
    for number in 10..<40 {
      try store.write {
        let patient = Patient()
        patient.number = number
        try store.add(patient)
      }
    }
    // As a crash leaves them.
    let data = try Data(contentsOf: URL(fileURLWithPath: place.path))
    let log = try Data(contentsOf: URL(fileURLWithPath: place.path + "-wal"))
    var random = SeededGenerator.forTest("aLogThatIsCutIsReadToItsLastWholeCommit")
    for round in 0..<10 {
      let other = place.folder.file("cut-\(round)").path
      try data.write(to: URL(fileURLWithPath: other))
      let count = round == 0 ? log.count : random.below(log.count)
      try log.prefix(count).write(to: URL(fileURLWithPath: other + "-wal"))
      let patients = try Store(.sqlite(other, key: place.key, models: Patient.self)).objects(Patient.self)
      let numbers = patients.map(\.number).sorted()
      #expect(numbers == Array(0..<numbers.count) && (numbers.isEmpty || numbers.count >= 10))
      if round == 0 { #expect(numbers.count == 40) }
    }
  }
}
#endif
