import ArgumentParser
import Foundation
import StorageIncrements
import StorageInterface
import StoreInspection
import StoreValues

/// Commands about what 'backup --since' writes.
extension InspectCommand {
  struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes a store of a full copy and the increments that were written after it, in their order.",
      discussion: "The store has the copy's kind and key. Nothing is left of it if an increment does not follow or is damaged.")
    @Argument(help: "The full copy.") var copy: String
    @Argument(help: "The file to make. There must be none.") var file: String
    @Argument(help: "The increments, in the order in which they were written.") var increments: [String] = []
    @OptionGroup var keys: KeyOptions

    func run() throws {
      let backends = try keys.backends(copy)
      // Says what is wrong with the copy, if anything is.
      let engine = try StoreFinder.open(copy, backends)
      defer { engine.close() }
      guard let backend = backends.first(where: { $0.kind == engine.kind }) as? any SeedReading else {
        throw InspectionError(.usage, "A store of the engine '\(engine.kind)' cannot be copied as a file.")
      }
      let version: Version
      do throws(StorageError) {
        version = try StoreRestoration(backend.elsewhere(file)).restore(copy, increments) { _ in .proceed }
      } catch {
        throw InspectionError(error)
      }
      try DescriptorOutput.standard.say("version \(version.rawValue) restored")
    }
  }

  struct Increment: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Reads an increment to its end, and says of which store it is, and from which version to which it leads.")
    @Argument(help: "The increment.") var file: String
    @OptionGroup var keys: KeyOptions

    func run() throws {
      let key = try keys.key()
      let head: IncrementHead
      do throws(StorageError) {
        let increment = try IncrementFile(file, key: key)
        try increment.readToEnd()
        head = increment.head
      } catch {
        throw InspectionError(error)
      }
      let store = head.identity.map { "of store \($0)" } ?? "of a store without an identity"
      try DescriptorOutput.standard.say("version \(head.from.rawValue) to \(head.to.rawValue) \(store)")
    }
  }
}
