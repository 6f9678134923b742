import ArgumentParser
import Foundation
import StorageInterface
import StorageLMDB
import StorageSQLite
import StoreInspection

/// Commands about the whole graph of a store.
extension InspectCommand {
  struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "The whole store as JSON, from which 'import' makes the same store again.")
    @OptionGroup var target: Target
    func run() throws { try target.inspector().export() }
  }

  struct Digest: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "16 digits that are equal for stores with equal contents, whatever their backends.")
    @OptionGroup var target: Target
    func run() throws { try target.inspector().digest() }
  }

  struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import", abstract: "Makes a new store from what 'export' printed, or from a JSON export of Realm Studio.",
      discussion: """
        An export of Realm Studio has values and no types: give it those of a store that your program made (--like), or \
        what 'inspect schema --format json' prints (--schema).
        """)
    @Argument(help: "The file to make. There must be none.") var file: String
    @Option(help: "lmdb or sqlite.") var to: Backend
    @Option(help: "The export; standard input when it is not given.") var from: String?
    @OptionGroup var types: Types

    func run() throws {
      let schema = try types.schema()
      let json: Data
      if let from {
        guard let read = FileManager.default.contents(atPath: from) else {
          throw InspectionError(.cannotOpen, "\(from) cannot be read.")
        }
        json = read
      } else {
        json = FileHandle.standardInput.readDataToEndOfFile()
      }
      try to.create(file) { engine throws(InspectionError) in
        guard let schema else { return try GraphImport.run(json, into: engine) }
        try RealmImport.run(json, schema: schema, into: engine)
      }
    }
  }

  struct Copy: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Copies a store to a new one of any backend: identities, order, indexes, and the history it keeps.")
    @Argument(help: "The store's file.") var file: String
    @Argument(help: "The file to make. There must be none.") var copy: String
    @Option(help: "lmdb or sqlite. The copy is not encrypted; 'backup' keeps the key.") var to: Backend
    @OptionGroup var keys: KeyOptions

    func run() throws {
      let source = try StoreFinder.open(file, keys.backends(file))
      try to.create(copy) { engine throws(InspectionError) in try StoreCopy.copy(source, to: engine) }
    }
  }

  struct Salvage: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Takes every object that is whole out of a damaged store into a new one, and says what was lost by type.",
      discussion: "The history stays behind. Exit status 5 where something was lost.")
    @Argument(help: "The damaged store's file.") var file: String
    @Argument(help: "The file to make. There must be none.") var copy: String
    @Option(help: "lmdb or sqlite; the kind of the damaged store where it is not given.") var to: Backend?
    @OptionGroup var keys: KeyOptions

    func run() throws {
      let source = try StoreFinder.open(file, keys.backends(file))
      var outcomes: [StoreSalvage.Outcome] = []
      let kind = to ?? Backend(rawValue: source.kind) ?? .lmdb
      // The copy matters more than what is said of it.
      var failure: InspectionError?
      try kind.create(copy) { engine throws(InspectionError) in
        outcomes = try StoreSalvage.run(source, to: engine) { outcome in
          if failure != nil { return }
          do throws(InspectionError) { try DescriptorOutput.standard.say(outcome.text) } catch { failure = error }
        }
      }
      let isWhole = outcomes.allSatisfy(\.isWhole)
      try InspectionError.end(found: isWhole ? nil : InspectionError(.damaged, ""), output: failure)
    }
  }

  /// What a store is made with.
  enum Backend: String, ExpressibleByArgument, CaseIterable {
    case lmdb, sqlite

    /// Makes a new store and has it filled: under another name, so that nobody finds half a store and nothing that is there
    /// meanwhile is touched. Status `.usage` when there is a file already.
    func create(_ path: String, _ fill: (any StorageEngine) throws(InspectionError) -> Void) throws(InspectionError) {
      if FileManager.default.fileExists(atPath: path) {
        throw InspectionError(.usage, "\(path) is there already; name a file that is not.")
      }
      let aside = "\(path).making-\(UUID().uuidString)"
      let backend: any StorageBackend = self == .lmdb ? LMDBBackend(path: aside) : SQLiteBackend(path: aside)
      defer { try? backend.remove() }
      let engine: any StorageEngine
      do throws(StorageError) { engine = try backend.open(OpenOptions()) } catch { throw InspectionError(error) }
      defer { engine.close() }
      try fill(engine)
      do throws(StorageError) {
        try engine.powers.copying?.writeCopy(to: path, .unchanged) { _ in .proceed }
      } catch {
        throw InspectionError(error)
      }
    }
  }
}
