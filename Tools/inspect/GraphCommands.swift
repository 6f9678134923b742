import ArgumentParser
import Foundation
import StorageInterface
import StoreInspection
import StoreValues

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
        what 'inspect schema --format json' prints (--schema). The store has the permissions of the file that it comes from; \
        what comes through a pipe is for its owner alone.
        """)
    @Argument(help: "The file to make. There must be none.") var file: String
    @Option(help: "lmdb or sqlite.") var to: Backend
    @Option(help: "The export; standard input when it is not given.") var from: String?
    @OptionGroup var newKey: NewKeyOptions
    @OptionGroup var types: Types

    func run() throws {
      if from == nil, newKey.newPassphrase {
        throw InspectionError(.usage, "Standard input has the passphrase: name the export's file with '--from'.")
      }
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
      let mode = from.map(Backend.mode(ofFile:)) ?? Backend.modeOfStandardInput
      try to.create(file, mode, newKey.key()) { engine throws(InspectionError) in
        guard let schema else { return try GraphImport.run(json, into: engine) }
        try RealmImport.run(json, schema: schema, into: engine)
      }
    }
  }

  struct Copy: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Copies a store to a new one of any backend: identities, order, indexes, and the history it keeps.",
      discussion: CopyKeyOptions.discussion)
    @Argument(help: "The store's file.") var file: String
    @Argument(help: "The file to make. There must be none.") var copy: String
    @Option(help: "lmdb or sqlite.") var to: Backend
    @OptionGroup var keys: KeyOptions
    @OptionGroup var copyKey: CopyKeyOptions

    func run() throws {
      let key = try keys.key()
      let source = try StoreFinder.open(file, KeyOptions.backends(file, key))
      try to.create(copy, Backend.mode(ofFile: file), copyKey.key(key)) { engine throws(InspectionError) in
        try StoreCopy.copy(source, to: engine)
      }
    }
  }

  struct Salvage: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Takes every object that is whole out of a damaged store into a new one, and says what was lost by type.",
      discussion: "The history stays behind. Exit status 5 where something was lost. \(CopyKeyOptions.discussion)")
    @Argument(help: "The damaged store's file.") var file: String
    @Argument(help: "The file to make. There must be none.") var copy: String
    @Option(help: "lmdb or sqlite; the kind of the damaged store where it is not given.") var to: Backend?
    @OptionGroup var keys: KeyOptions
    @OptionGroup var copyKey: CopyKeyOptions

    func run() throws {
      let key = try keys.key()
      let source = try DamagedStore.open(file, key, beside: copy)
      defer { source.close() }
      var outcomes: [StoreSalvage.Outcome] = []
      let kind = to ?? Backend(rawValue: source.engine.kind) ?? .lmdb
      // The copy matters more than what is said of it.
      var failure: InspectionError?
      func say(_ text: String) {
        if failure != nil { return }
        do throws(InspectionError) { try DescriptorOutput.standard.say(source.named(text)) } catch { failure = error }
      }
      try kind.create(copy, Backend.mode(ofFile: file), copyKey.key(key)) { engine throws(InspectionError) in
        if let version = source.found {
          say("The first pages are damaged. What follows is of version \(version.rawValue), the newest that is found.")
        }
        outcomes = try StoreSalvage.run(source.engine, to: engine) { outcome in say(outcome.text) }
      }
      let isWhole = source.found == nil && outcomes.allSatisfy(\.isWhole)
      try InspectionError.end(found: isWhole ? nil : InspectionError(.damaged, ""), output: failure)
    }
  }
}
