#if os(Linux) || os(macOS)
import Foundation
import Testing

/// What must not compile: each mistake with what the compiler answers.
private let mistakes = """
  import StoreOperations
  import Vivarium

  func writingIsNotReading(_ io: StoreRW<Int>) {
    let _: StoreRO<Int> = io  // mistake: to type 'StoreRO<Int>'
  }

  func aCompositionWithWritingDoesNotRead(_ read: StoreRO<Int>, _ write: StoreRW<Int>) {
    let _: StoreRO<Int> = read.flatMap { _ in write }  // mistake: cannot convert
  }

  func writingFirstDoesNotRead(_ read: StoreRO<Int>, _ write: StoreRW<Int>) {
    let _: StoreRO<Int> = write.flatMap { _ in read }  // mistake: to type 'StoreRO<Int>'
  }

  func whatMayWriteDoesNotRead(_ either: AnyStoreIO<Int>, _ read: StoreRO<Int>) {
    let _: StoreRO<Int> = either.flatMap { _ in read }  // mistake: to type 'StoreRO<Int>'
    let _: StoreRO<(Int, Int)> = either.zip(either)  // mistake: to type 'StoreRO<(Int, Int)>'
  }

  func resultsAreNotCaptured<T: Model>(_ all: Results<T>) -> StoreRO<Int> {
    StoreRO { _ in all.count }  // mistake: non-Sendable
  }

  func anOperationCapturesNoLiveObject<T: Model>(_ dog: T) -> StoreRW<Void> {
    StoreRW { store in try store.delete(dog) }  // mistake: non-Sendable
  }

  func anExistingInstanceIsNotAdded<T: Model>(_ dog: T) -> StoreRW<T> {
    Store.IO.add(dog)  // mistake: 'Sendable'
  }

  func aStoreIsNotCaptured(_ store: Store) -> StoreRW<Void> {
    StoreRW { _ in try store.deleteAll() }  // mistake: non-Sendable
  }

  @MainActor func liveResultsStayOnTheirThread<T: Model>(_ store: Store, _ all: StoreRO<Results<T>>) async throws {
    _ = try await store.runAsync(io: all)  // mistake: 'Sendable'
  }
  """

@Suite struct RefusedTests {
  @Test func mistakesAreFoundByTheCompiler() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "refused-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = folder.appending(path: "Refused.swift")
    try Data(mistakes.utf8).write(to: source)

    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments = ["swiftc", "-typecheck", "-swift-version", "6", source.path] + (try moduleFolders())
    let answer = Pipe()
    compiler.standardError = answer
    try compiler.run()
    let text = String(decoding: try answer.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    compiler.waitUntilExit()

    let errors = text.split(separator: "\n").filter { $0.contains("Refused.swift:") && $0.contains(" error: ") }
    var unexpected = errors
    for (number, line) in mistakes.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      guard let wanted = line.components(separatedBy: "// mistake: ").dropFirst().first else { continue }
      let here = errors.filter { $0.contains("Refused.swift:\(number + 1):") }
      #expect(here.contains { $0.contains(wanted) }, "\(line)\n\(text)")
      unexpected.removeAll { here.contains($0) }
    }
    #expect(unexpected.isEmpty, "\(text)")
  }

  /// Where this test's own build keeps its modules, those of C included.
  private func moduleFolders() throws -> [String] {
    var folder = try #require(Bundle(for: Anchor.self).executableURL ?? Bundle.main.executableURL)
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let modules = folder.appending(path: "Modules")
      guard FileManager.default.fileExists(atPath: modules.appending(path: "StoreOperations.swiftmodule").path) else { continue }
      let targets = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      let maps = targets.filter { $0.hasSuffix(".build") && !$0.hasSuffix("-tool.build") }
        .map { folder.appending(path: $0).appending(path: "module.modulemap").path }
        .filter { FileManager.default.fileExists(atPath: $0) }
      return ["-I", modules.path] + maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    }
    Issue.record("The folder with StoreOperations.swiftmodule was not found.")
    return []
  }

  private final class Anchor {}
}
#endif
