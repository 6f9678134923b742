import StorageInterface
import StorageReference
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct StoreFinderTests {
  @Test func theKindIsFoundByAsking() throws {
    let kennel = try Kennel()
    let other = ReferenceBackend()
    let engine = try StoreFinder.open("/kennel", [other, kennel.backend])
    #expect(try engine.latestVersion() == Version(2))
  }

  @Test func aMissingFileIsSaidToBeMissing() {
    let error = #expect(throws: InspectionError.self) {
      try StoreFinder.open("/no\nsuch/file", [ReferenceBackend()])
    }
    #expect(error == InspectionError(.cannotOpen, "/no\\nsuch/file cannot be opened: No such file or directory."))
  }

  @Test func aFileOfSomebodyElseIsSaidToBeForeign() {
    let error = #expect(throws: InspectionError.self) { try StoreFinder.open("/etc/passwd", [ReferenceBackend()]) }
    #expect(error == InspectionError(.cannotOpen, "/etc/passwd is no Vivarium store (reference)."))
  }

  @Test(arguments: [
    (StorageError.Code.corrupt, CommandStatus.cannotOpen), (.unsupportedVersion, .cannotOpen),
    (.permissionDenied, .cannotOpen), (.tooManyReaders, .cannotOpen), (.io, .inputOutput),
  ])
  func whatTheEngineSaysIsOneLineWithThePath(code: StorageError.Code, status: CommandStatus) {
    let backend = RefusingBackend(error: StorageError(code, .engine, "It is\nno use.", remedy: "Give up."))
    let error = #expect(throws: InspectionError.self) { try StoreFinder.open("/kennel", [backend]) }
    #expect(error == InspectionError(status, "/kennel: It is\\nno use. Give up."))
  }
}

private struct RefusingBackend: StorageBackend {
  let kind = "refusing"
  let location = "/kennel"
  let isFile = true
  let error: StorageError

  func open(_ options: OpenOptions) throws(StorageError) -> any StorageEngine {
    guard options.isReadOnly, !options.createsIfMissing else {
      throw StorageError(.misuse, .engine, "An inspector opens for reading alone.")
    }
    throw error
  }
  func isPresent() -> Bool { true }
  func remove() {}
}
