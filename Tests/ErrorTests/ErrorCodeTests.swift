import Foundation
import QueryEngine
import QueryModel
import StorageInterface
import StorageSQLite
import Testing
import Vivarium
import VivariumTestSupport

/// Every code that a module declares is in Docs/Errors.md, and is what a mistake, a fault or a limit ends with.
@Suite struct ErrorCodeTests {
  @Test func thePageHasEveryCodeAndNoOther() throws {
    let (declared, shown) = (DeclaredCodes.all, try DeclaredCodes.shown())
    #expect(declared.count > 100)
    #expect(Set(declared).subtracting(shown).sorted() == [])
    #expect(Set(shown).subtracting(declared).sorted() == [])
    #expect(shown.count == Set(shown).count)
  }

  /// A store passes errors of engines on under their code, and a `catch` needs a name for it.
  @Test func whatAnEngineThrowsHasANameInStores() {
    let (stores, engines) = (DeclaredCodes.codes(of: "StoreError"), DeclaredCodes.codes(of: "StorageError"))
    // In the file of a replica alone, and told by its replicator.
    #expect(engines.subtracting(stores) == ["stagedPagesDamaged"])
    #expect(StoreError.Code.misuse.rawValue == StorageError.Code.misuse.rawValue)
    #expect(StoreError.Code.sqlite.rawValue == StorageError.Code.sqlite.rawValue)
  }

  @Test func thePageHasEveryPublicErrorAndTheCodesOfEach() throws {
    let errors = DeclaredErrors.all
    #expect(errors.count > 15)
    #expect(Set(DeclaredCodes.types).subtracting(errors.keys) == [])
    let page = try DeclaredCodes.page()
    for (name, codes) in errors {
      if DeclaredCodes.types.contains(name) { continue }
      #expect(page.contains("\n## \(name)\n") || page.contains("\n| `\(name)` |"), "\(name) is not in Docs/Errors.md.")
      let section = page.components(separatedBy: "\n## ").first { $0.hasPrefix("\(name)\n") } ?? ""
      let shown = section.split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap { $0.split(separator: "`").dropFirst().first }
      #expect(shown.map(String.init) == codes, "\(name)")
    }
  }

  @Test(arguments: DeclaredCodes.all) func everyCodeIsProvoked(_ name: String) throws {
    if let test = Provocations.elsewhere[name] {
      let text = try #require(DeclaredCodes.test(test.file), "There is no \(test.file).")
      #expect(text.contains(test.text), "\(test.file) does not look for it.")
      return
    }
    // What an engine throws, a store passes on under the same code.
    let provocation = Provocations.all[name] ?? Provocations.all[name.replacing("StorageError.", with: "StoreError.")]
    #if !Encryption
    if provocation == nil, ["wrongKey", "missingKey", "notEncrypted"].contains(where: name.hasSuffix) {
      print("Not provoked: \(name), without the trait Encryption.")
      return
    }
    #endif
    let run = try #require(provocation, "Nothing provokes \(name).")
    do {
      try run(Ground())
      Issue.record("\(name): nothing was thrown.")
    } catch {
      let (code, message) = Self.parts(error)
      #expect(code == name.drop { $0 != "." }.dropFirst(), "\(error)")
      #expect(!message.isEmpty)
    }
  }

  @Test func noProvocationIsOfACodeThatIsGone() {
    let names = Set(Provocations.all.keys).union(Provocations.elsewhere.keys)
    #expect(names.subtracting(DeclaredCodes.all).sorted() == [])
  }

  /// A copy of the process may not use what was open.
  @Test func aCodeOfAForkedProcess() async throws {
    await #expect(processExitsWith: .success) {
      let ground = Ground()
      let store = try ground.store()
      let child = forkedProcess()
      if child == 0 {
        do { try store.write { try store.add(Pet()) } } catch { _exit((error as? StoreError)?.code == .forked ? 0 : 2) }
        _exit(1)
      }
      var status: Int32 = -1
      waitpid(child, &status, 0)
      #expect(status == 0)
    }
  }

  private static func parts(_ error: any Error) -> (code: Substring, message: String) {
    switch error {
    case let error as StoreError: (error.code.rawValue[...], error.message)
    case let error as StorageError: (error.code.rawValue[...], error.message)
    case let error as QueryError: (error.code.rawValue[...], error.message)
    case let error as TextQueryError: (error.code.rawValue[...], error.message)
    default: ("\(error)", "")
    }
  }
}
