import CrashSamples
import Foundation
import StorageIncrements
import StorageInterface
import StoreValues
import VivariumTestSupport

extension CrashChild {
  /// Commits numbers and writes an increment of each to the folder; the first copy is there, and so are the increments before `first`.
  static func writeIncrements(_ engine: any StorageEngine, into folder: String, from first: Int64, version: Version) throws {
    var version = version
    for number in first... {
      try CountedStore.commit(engine)
      version = try IncrementWriter.write(engine, since: version, to: "\(folder)/increment-\(number)", .unchanged) { _ in .proceed }
      say(number)
    }
  }

  /// Restores numbered stores into the folder of the copy and its increments.
  static func restore(_ store: CrashedStore, _ folder: String, from first: Int64) throws {
    let increments = try CountedStore.increments(in: folder)
    for number in first... {
      let backend = try store.backend("\(folder)/restored-\(number)")
      _ = try StoreRestoration(backend).restore("\(folder)/full", increments) { _ in .proceed }
      say(number)
    }
  }
}
