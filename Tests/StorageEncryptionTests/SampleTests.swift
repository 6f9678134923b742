#if Encryption
import Foundation
import StorageEncryption
import StorageSQLite
import Vivarium

import Testing
import VivariumTestSupport

@Model final class Person {
  var name = ""
}

/// What the guides show.
@Suite struct SampleTests {
  @Test func aStoreWithAKey() throws {
    let folder = TemporaryDirectory("samples")
    let (url, other) = (folder.file("people"), folder.file("other"))
    let (bytesFromTheKeychain, newKey) = (EncryptionKey.generate().bytes ?? [], EncryptionKey.generate())
    let key = try EncryptionKey(bytesFromTheKeychain)   // 64 bytes; EncryptionKey.generate() makes new ones
    let store = try Store(.sqlite(url, key: key, models: Person.self))
    try store.writeCopy(to: other, encryption: .key(newKey))
    #expect(try Store(.sqlite(other, key: newKey, models: Person.self)).objects(Person.self).isEmpty)
  }

  @Test func aBackUp() throws {
    let folder = TemporaryDirectory("samples")
    let store = try Store(.sqlite(folder.file("shop"), models: Person.self))
    let backup = folder.file("backup")
    try store.writeCopy(to: backup) { progress in
      print(Int(progress.fraction * 100), "%")
      return true
    }
    #expect(FileManager.default.fileExists(atPath: backup.path))
  }
}
#endif
