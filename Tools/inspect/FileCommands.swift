import ArgumentParser
import Foundation
import StorageInterface
import StorageSQLite
import StoreInspection

/// Commands about the file of a store as a whole, and its key.
extension InspectCommand {
  struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes the newest version to a new file of the same kind, while others write: with its history, without free space.",
      discussion: CopyKeyOptions.discussion)
    @Argument(help: "The store's file.") var file: String
    @Argument(help: "The file to make. There must be none.") var copy: String
    @OptionGroup var keys: KeyOptions
    @OptionGroup var copyKey: CopyKeyOptions

    func run() throws {
      let encryption = try copyKey.encryption()
      let engine = try StoreFinder.open(file, keys.backends(file))
      defer { engine.close() }
      guard let copying = engine.powers.copying else {
        throw InspectionError(.usage, "A store of the engine '\(engine.kind)' cannot be copied as a file; use 'inspect copy'.")
      }
      var bytes = 0
      do throws(StorageError) {
        try copying.writeCopy(to: copy, encryption) { progress in
          bytes = progress.bytesWritten
          return .proceed
        }
      } catch {
        throw InspectionError(error)
      }
      try DescriptorOutput.standard.say("\(bytes) bytes written")
    }
  }
  struct ChangeKey: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "change-key", abstract: "Encrypts a closed SQLite store with another key, or not at all, where it is.",
      discussion: """
        The file is the old one or the new one at any moment, whoever is killed; run it again then. Needs as much free space as \
        the file has. What was in the old file may still be on the disk.
        """)
    @Argument(help: "The store's file.") var file: String
    @OptionGroup var keys: KeyOptions
    @Option(help: ArgumentHelp("The file with the new key.", valueName: "file")) var newKeyFile: String?
    @Flag(help: "The store is not encrypted any more.") var plain = false

    func run() throws {
      guard plain != (newKeyFile != nil) else {
        throw InspectionError(.usage, "Give a file with the new key (--new-key-file), or --plain.")
      }
      let new = try newKeyFile.map(KeyOptions.key(inFile:))
      guard let backend = try keys.backends(file).first(where: { $0.isPresent() }) as? any KeyChanging else {
        throw InspectionError(.cannotOpen, "\(file) is no store of SQLite; other engines do not encrypt.")
      }
      do throws(StorageError) { try backend.changeKey(to: new) { _ in .proceed } } catch { throw InspectionError(error) }
    }
  }
}
