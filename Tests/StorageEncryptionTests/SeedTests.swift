#if Encryption
import Foundation
import StorageEncryption
import StorageInterface
import StorageSQLite
import Testing
import Vivarium
import VivariumTestSupport

/// A store that begins as the copy of another one has its own key.
@Suite struct SeedTests {
  private let place = Place()
  private var new: String { place.folder.file("new.sqlite").path }

  /// A closed seed with 20 patients that has a key, or none.
  private func seed(_ key: EncryptionKey?) throws -> String {
    let path = place.folder.file("seed-\(UUID().uuidString)").path
    let encryption: CopyEncryption = if let key { .key(key) } else { .none }
    try place.filled(20).writeCopy(to: path, encryption: encryption)
    return path
  }

  private func configuration(_ seed: String, _ key: EncryptionKey?) -> Store.Configuration {
    var configuration = Store.Configuration.sqlite(new, key: key, models: Patient.self)
    configuration.seed = seed
    return configuration
  }

  @Test func aSeedWithTheStoresKeyIsCopiedWithIt() throws {
    let seed = try self.seed(place.key)
    #expect(try Store(configuration(seed, place.key)).objects(Patient.self).count == 20)
    #expect(code { try place.engine(new, nil) } == "missingKey")
    #expect(try place.hasNothingPlain())
  }

  @Test(arguments: [false, true]) func theCopyOfAPlainSeedIsEncrypted(isPrivate: Bool) throws {
    let seed = try self.seed(nil)
    var configuration = self.configuration(seed, place.key)
    configuration.options.isPrivate = isPrivate
    #expect(try Store(configuration).objects(Patient.self).count == 20)
    #expect(code { try place.engine(new, nil) } == "missingKey")
    #expect(try place.files(with: Place.secret) == [URL(fileURLWithPath: seed).lastPathComponent])
    #expect(try place.picture(new, place.key) == place.picture(seed, nil))
  }

  @Test func aSeedWithAnotherKeyIsRefusedByItsNameAndLeavesNoFile() throws {
    let other = try seed(.generate())
    for (key, expected) in [(place.key, "wrongKey"), (nil, "missingKey")] as [(EncryptionKey?, String)] {
      let error = #expect(throws: StoreError.self) { try Store(configuration(other, key)) }
      #expect(error?.code.rawValue == expected && error?.remedy != nil && error?.message.contains(other) == true)
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.url.path).allSatisfy { !$0.hasPrefix("new.sqlite") })
    }
  }
}
#endif
