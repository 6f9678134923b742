import Foundation
import StorageIncrements
import StorageInterface
import StoreValues
import VivariumTestSupport

/// A counted store, and a folder with a full copy of it and the increments that were written since.
package struct CountedChain {
  package let kind: CrashedStore
  package let folder = TemporaryDirectory("increments")
  /// The version of the copy.
  package let base: Version
  package let key: (any StoreKey)?

  /// The store has one commit.
  package init(_ kind: CrashedStore) throws {
    self.kind = kind
    let copies = folder.file("copies")
    try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: false)
    let engine = try kind.backend(folder.file("store").path).open(OpenOptions())
    defer { engine.close() }
    guard let copying = engine.powers.copying else { throw CrashFault("the engine makes no copies") }
    try CountedStore.prepare(engine)
    try CountedStore.commit(engine)
    base = try copying.writeCopy(to: copies.appendingPathComponent("full").path, .unchanged) { _ in .proceed }
    key = engine.powers.key
  }

  package var store: String { folder.file("store").path }
  package var copies: URL { folder.file("copies") }
  package var full: String { copies.appendingPathComponent("full").path }
  package var increments: [String] { get throws { try CountedStore.increments(in: copies.path) } }

  package func commit(_ count: Int) throws {
    let engine = try kind.backend(store).open(OpenOptions())
    defer { engine.close() }
    for _ in 0..<count { try CountedStore.commit(engine) }
  }

  /// Commits, and writes an increment of each commit, beginning with the copy.
  package func writeIncrements(_ count: Int) throws {
    let engine = try kind.backend(store).open(OpenOptions())
    defer { engine.close() }
    var version = base
    for number in 1...count {
      try CountedStore.commit(engine)
      let path = copies.appendingPathComponent("increment-\(number)").path
      version = try IncrementWriter.write(engine, since: version, to: path, .unchanged) { _ in .proceed }
    }
  }

  /// Restores a store of the copy and increments: its number; nil if something is not as it was.
  package func numberOfRestored(_ increments: [String]) throws -> Int64? {
    let path = folder.file("whole").path
    _ = try StoreRestoration(kind.backend(path)).restore(full, increments) { _ in .proceed }
    defer { try? kind.backend(path).remove() }
    return try number(path)
  }

  /// The number of a store that is there; nil if something is not as it was.
  package func number(_ path: String) throws -> Int64? {
    let engine = try kind.backend(path).open(OpenOptions(createsIfMissing: false))
    defer { engine.close() }
    let read = try engine.beginRead()
    defer { read.end() }
    var isWhole = true
    try engine.powers.structure?.verifyStructure(read) { _ in isWhole = false }
    return isWhole ? try CountedStore.number(read) : nil
  }
}
