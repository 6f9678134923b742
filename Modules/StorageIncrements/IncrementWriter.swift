import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface
import StoreValues

/// Writes what changed in a store since a version to a new file, an *increment*, while others write.
package enum IncrementWriter {
  /// Writes the changes of the commits after `version` up to the newest one, whose version is returned, to a file that must not exist.
  /// The file is its owner's alone. It is complete and on the disk when this returns; whoever is killed before leaves none.
  ///
  /// Throws `.needsFullCopy` if the commit records do not tell what changed, or only a part of it; `.fileExists`, `.cancelled`,
  /// `.corrupt`, `.permissionDenied`, `.outOfDiskSpace`, `.io`: then there is nothing at `path`. O(changes).
  package static func write(
    _ engine: any StorageEngine, since version: Version, to path: String, _ encryption: CopyEncryption,
    _ progress: (CopyProgress) -> Step
  ) throws(StorageError) -> Version {
    let key: (any StoreKey)? =
      switch encryption {
      case .unchanged: engine.powers.key
      case .none: nil
      case .key(let key): key
      }
    let read = try engine.beginRead()
    defer { read.end() }
    let (base, records) = try changes(read, since: version)
    let plan = try IncrementPlan(records)
    try checkUniqueFlags(plan, read.catalog)
    var info = stat()
    if lstat(path, &info) == 0 { throw .exists(path) }
    let folder = try OpenFolder(of: path)
    let file = try AsideFile(for: path, mode: 0o600)
    defer { file.remove() }
    try file.write { () throws(StorageError) in
      let output = try IncrementOutput(file, path, try IncrementSeal(key))
      let head = IncrementHead(
        identity: read.catalog.identity, from: version, to: read.version, fingerprint: base.fingerprint, catalog: read.catalog)
      try IncrementContent(read, output, path, plan).write(head, records, progress)
      let number = file.sync()
      guard number == 0 else { throw .system(number, .statement, doing: "sync the increment", path: path) }
    }
    switch cs_rename_new(file.path, path) {
    case 0: break
    case EEXIST: throw .exists(path)
    case let number: throw .system(number, .statement, doing: "make", path: path)
    }
    do throws(StorageError) { try folder.sync() } catch {
      // Nobody knows of it yet, and it might be gone after a power cut.
      unlink(path)
      throw error
    }
    return read.version
  }

  /// The record of `version`, and those after it. Throws `.needsFullCopy` unless they tell everything.
  private static func changes(
    _ read: any ReadTransaction, since version: Version
  ) throws(StorageError) -> (base: CommitRecord, records: [CommitRecord]) {
    guard version <= read.version else {
      throw .needsFullCopy("the store is at version \(read.version.rawValue), and was never at \(version.rawValue).")
    }
    guard !read.catalog.hasSideEntries else {
      throw .needsFullCopy("it is the file of a replica, and commits do not say what replication keeps beside the objects.")
    }
    // The objects have it already, and the record of it will be that of a later version.
    if try read.powers.foreign?.hasUnrecordedWrites() == true {
      throw .needsFullCopy("another program wrote the file, and no version has that as a commit yet.")
    }
    var records: [CommitRecord] = []
    if version.rawValue > 0 {
      do throws(StorageError) {
        try read.history(after: Version(version.rawValue - 1)) { record in
          records.append(record)
          return .proceed
        }
      } catch {
        guard error.code == .historyTrimmed else { throw error }
        records = []
      }
    }
    guard let base = records.first, base.version == version, records.count == Int(read.version.rawValue - version.rawValue) + 1 else {
      throw .needsFullCopy("the history does not reach back to version \(version.rawValue).")
    }
    records.removeFirst()
    for record in records {
      if record.changedCatalog { throw .needsFullCopy("version \(record.version.rawValue) changed the types.") }
      // Such a commit may reuse keys, and a copy that was made before it may have its changes already.
      if record.origin == 0 { throw .needsFullCopy("version \(record.version.rawValue) was written by another program.") }
    }
    return (base, records)
  }

  /// Two objects may have exchanged unique values, and are put right one by one: one of them has another value meanwhile. Of a Bool that
  /// is not optional there may be none.
  private static func checkUniqueFlags(_ plan: IncrementPlan, _ catalog: Catalog) throws(StorageError) {
    for (id, changes) in plan.tables {
      guard let table = catalog[id] else { continue }
      let unique = table.uniqueProperties
      let flags = PropertySet(
        table.columns.filter { $0.schema.valueType == .bool && !$0.schema.mayBeNull && unique.contains($0.id) }.map(\.id))
      if !flags.isEmpty, changes.modified.contains(where: { !$0.properties.isDisjoint(with: flags) }) {
        throw .needsFullCopy("a Bool with a unique index changed in '\(table.name)'.")
      }
    }
  }
}
