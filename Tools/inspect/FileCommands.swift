import ArgumentParser
import Foundation
import StorageIncrements
import StorageInterface
import StoreInspection
import StoreValues

/// Commands about the file of a store as a whole, and its key.
extension InspectCommand {
  struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes the newest version to a new file of the same kind, while others write: with its history, without free space.",
      discussion: """
        With --since, writes an increment: only what changed after the version of a copy, or of the increment before. 'inspect restore' \
        makes a store of a copy and its increments. \(CopyKeyOptions.discussion)
        """)
    @Argument(help: "The store's file.") var file: String
    @Argument(help: "The file to make. There must be none.") var copy: String
    @Option(help: ArgumentHelp("Writes only what changed after this version.", valueName: "version")) var since: UInt64?
    @OptionGroup var keys: KeyOptions
    @OptionGroup var copyKey: CopyKeyOptions

    func run() throws {
      let backends = try keys.backends(file)
      let encryption = try copyKey.encryption()
      let engine = try StoreFinder.open(file, backends)
      defer { engine.close() }
      guard let copying = engine.powers.copying else {
        throw InspectionError(.usage, "A store of the engine '\(engine.kind)' cannot be copied as a file; use 'inspect copy'.")
      }
      var bytes = 0
      func note(_ progress: CopyProgress) -> Step {
        bytes = progress.bytesWritten
        return .proceed
      }
      let version: Version
      do throws(StorageError) {
        if let since {
          version = try IncrementWriter.write(engine, since: Version(since), to: copy, encryption, note)
        } else {
          version = try copying.writeCopy(to: copy, encryption, note)
        }
      } catch {
        throw InspectionError(error)
      }
      try DescriptorOutput.standard.say("version \(version.rawValue): \(bytes) bytes written")
    }
  }
  struct ChangeKey: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "change-key", abstract: "Encrypts a closed store with another key, or not at all, where it is.",
      discussion: """
        The file is the old one or the new one at any moment, whoever is killed; run it again then. Needs as much free space as \
        the file has. What was in the old file may still be on the disk.
        """)
    @Argument(help: "The store's file.") var file: String
    @OptionGroup var keys: KeyOptions
    @OptionGroup var newKey: NewKeyOptions
    @Flag(help: "The store is not encrypted any more.") var plain = false

    func run() throws {
      guard plain != newKey.isGiven else {
        throw InspectionError(.usage, "Give the new key (--new-key-file or --new-passphrase), or --plain.")
      }
      let backends = try keys.backends(file)
      let new = try newKey.key()
      guard let backend = backends.first(where: { $0.isPresent() }) as? any KeyChanging else {
        throw InspectionError(.cannotOpen, "\(file) is no store.")
      }
      do throws(StorageError) { try backend.changeKey(to: new) { _ in .proceed } } catch { throw InspectionError(error) }
    }
  }
}
