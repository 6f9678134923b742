import ChangeTracker
import Foundation
import StorageIncrements
import StorageInterface
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

/// A store, a copy of it, and increments that were written after the copy.
struct Chain {
  let kind: HistoryEngine
  let folder = TemporaryDirectory("increments")
  let source: any StorageEngine
  var history: RandomHistory
  /// The path of the copy; where the engine has no files, nothing is there, and `base` is the copy.
  let copy: String
  private let base: (any StorageEngine)?
  private(set) var increments: [String] = []
  /// The copy's version, and that of each increment.
  private(set) var versions: [Version] = []
  /// What the source had at these versions.
  private var contents: [Contents] = []

  init(_ kind: HistoryEngine, _ random: SeededGenerator, increments: Int) throws {
    self.kind = kind
    copy = folder.file("copy").path
    source = try kind.backend(folder.file("source").path).open(OpenOptions())
    history = try RandomHistory(source, random)
    for _ in 0..<8 { try history.commit(source) }
    if let copying = source.powers.copying {
      versions = [try copying.writeCopy(to: copy, .unchanged) { _ in .proceed }]
      base = nil
    } else {
      let target = try kind.backend("").open(OpenOptions())
      try StoreCopy.copy(source, to: target)
      versions = [try target.latestVersion()]
      base = target
    }
    contents = [try Contents(source, recordsAfter: versions[0])]
    for _ in 0..<increments {
      for _ in 0..<1 + history.random.below(4) { try history.commit(source) }
      try add()
    }
  }

  /// Writes the next increment.
  mutating func add() throws {
    let path = folder.file("increment-\(increments.count)").path
    versions.append(
      try IncrementWriter.write(source, since: versions[versions.count - 1], to: path, .unchanged) { _ in .proceed })
    #expect(try versions.last == source.latestVersion() && contents[0].version == versions[0])
    increments.append(path)
    contents.append(try Contents(source, recordsAfter: versions[0]))
  }

  /// A new store of the copy and so many increments.
  func restored(_ count: Int) throws -> any StorageEngine {
    let path = folder.file("restored-\(UUID().uuidString)").path
    #expect(try restore(to: path, Array(increments.prefix(count))) == versions[count])
    return try kind.backend(path).open(OpenOptions())
  }

  @discardableResult
  func restore(to path: String, _ increments: [String], _ step: Step = .proceed) throws -> Version {
    try StoreRestoration(kind.backend(path)).restore(copy, increments) { _ in step }
  }

  /// Restores every version, and compares it with what the source had then.
  func expectSame(_ what: Comment) throws {
    var applier = try base.map { try IncrementApplier($0) }
    for count in contents.indices {
      if count > 0 { try applier?.apply(IncrementFile(increments[count - 1], key: nil)) }
      let engine = try base ?? restored(count)
      let found = try Contents(engine, recordsAfter: versions[0])
      #expect(found.version == contents[count].version, what)
      #expect(found.digest == contents[count].digest, what)
      #expect(found.catalog == contents[count].catalog, what)
      #expect(found.records == contents[count].records, what)
      if base == nil { engine.close() }
    }
  }
}
