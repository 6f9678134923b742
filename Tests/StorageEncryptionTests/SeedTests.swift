#if Encryption
import Foundation
import StorageEncryption
import StorageInterface
import Testing
import Vivarium
import VivariumTestSupport

/// A store that begins as the copy of another one has its own key.
@Suite struct SeedTests {
  @Test(arguments: SealedKind.allCases) func aSeedWithTheStoresKeyIsCopiedWithIt(kind: SealedKind) throws {
    let place = Place(kind)
    let seed = try place.seed(place.key)
    #expect(try Store(place.configuration(seed, place.key)).objects(Patient.self).count == 20)
    #expect(code { try place.engine(place.new, nil) } == "missingKey")
    #expect(try place.hasNothingPlain())
  }

  @Test(arguments: SealedKind.allCases, [false, true])
  func theCopyOfAPlainSeedIsEncrypted(kind: SealedKind, isPrivate: Bool) throws {
    let place = Place(kind)
    let seed = try place.seed(nil)
    var configuration = place.configuration(seed, place.key)
    configuration.options.isPrivate = isPrivate
    #expect(try Store(configuration).objects(Patient.self).count == 20)
    #expect(code { try place.engine(place.new, nil) } == "missingKey")
    #expect(try place.files(with: Place.secret) == [URL(fileURLWithPath: seed).lastPathComponent])
    #expect(try place.picture(place.new, place.key) == place.picture(seed, nil))
  }

  @Test(arguments: SealedKind.allCases) func aSeedWithAnotherKeyIsRefusedByItsNameAndLeavesNoFile(kind: SealedKind) throws {
    let place = Place(kind)
    let other = try place.seed(.generate())
    for (key, expected) in [(place.key, "wrongKey"), (nil, "missingKey")] as [(EncryptionKey?, String)] {
      let error = #expect(throws: StoreError.self) { try Store(place.configuration(other, key)) }
      #expect(error?.code.rawValue == expected && error?.remedy != nil && error?.message.contains(other) == true)
      #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.url.path).allSatisfy { !$0.hasPrefix("new.store") })
    }
  }
}

extension Place {
  fileprivate var new: String { folder.file("new.store").path }

  /// A closed seed with 20 patients that has a key, or none.
  fileprivate func seed(_ key: EncryptionKey?) throws -> String {
    let path = folder.file("seed-\(UUID().uuidString)").path
    let encryption: CopyEncryption = if let key { .key(key) } else { .none }
    try filled(20).writeCopy(to: path, encryption: encryption)
    return path
  }

  fileprivate func configuration(_ seed: String, _ key: EncryptionKey?) -> Store.Configuration {
    var configuration = kind.configuration(new, key)
    configuration.seed = seed
    return configuration
  }
}
#endif
