import Foundation
import StorageLMDB
import StorageMemory
import StorageSQLite
import SyncClient
import SyncModel
import StoreValues
import Vivarium

@Model final class Item {
  @PrimaryKey var id = 0
  var title = ""
  var count = 0
  var isDone = false
  var tags: LiveList<String>
}

/// What keeps a file.
enum Engine: String, CaseIterable {
  case memory, lmdb, sqlite

  func configuration(_ folder: URL, _ name: String, replica: UInt64) -> Store.Configuration {
    let url = folder.appendingPathComponent(name)
    var configuration: Store.Configuration =
      switch self {
      case .memory: .memory(UUID().uuidString)
      case .lmdb: .lmdb(url)
      case .sqlite: .sqlite(url)
      }
    configuration.models = [Item.self]
    configuration.durability = .relaxed
    var sync = SyncConfiguration()
    sync.replica = ReplicaID(replica)
    configuration.replicate(sync)
    return configuration
  }

  /// A file that is replicated by a server from its opening on.
  func configuration(_ folder: URL, _ name: String, _ sync: SyncConfiguration) -> Store.Configuration {
    var configuration = configuration(folder, name, replica: 1)
    configuration.sync = sync
    return configuration
  }
}

/// Makes what another replica would have sent.
struct RemoteAuthor {
  let replica: ReplicaID
  private var stamp: Stamp
  private var clientSeq: UInt64 = 0
  private var elements: UInt64 = 0

  init(_ replica: UInt64, milliseconds: UInt64 = 1_700_000_000_000) {
    self.replica = ReplicaID(replica)
    stamp = Stamp(milliseconds: milliseconds, counter: 0, replica: self.replica)
  }

  private var drawn: UInt64 = 1

  /// The same numbers in every run, all over the range.
  private mutating func next(below count: Int) -> Int64 {
    drawn = drawn &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int64((drawn >> 33) % UInt64(count))
  }

  private mutating func changeset(_ operations: [SyncModel.Operation]) -> Changeset {
    clientSeq += 1
    defer { stamp = Stamp(milliseconds: stamp.milliseconds + 1, counter: 0, replica: replica) }
    return Changeset(clientSeq: clientSeq, baseSeq: .zero, first: stamp, operations: operations)
  }

  /// Three operations for each of some new objects: two properties.
  mutating func plainCreation(of first: Int64, count: Int) -> Changeset {
    changeset(
      (first..<first + Int64(count)).flatMap { id in
        let item = ObjectIdentity("Item", .int(id))
        return [
          SyncModel.Operation(item, epoch: .zero, .create),
          SyncModel.Operation(item, epoch: .zero, .set("title", .string("the title of \(id)"), isDefault: false)),
          SyncModel.Operation(item, epoch: .zero, .set("count", .int(id), isDefault: false)),
        ]
      })
  }

  /// Five operations for each of some new objects: three properties and a tag.
  mutating func creation(of first: Int64, count: Int = 2) -> Changeset {
    var operations: [SyncModel.Operation] = []
    for id in first..<first + Int64(count) {
      let item = ObjectIdentity("Item", .int(id))
      operations.append(SyncModel.Operation(item, epoch: .zero, .create))
      operations.append(SyncModel.Operation(item, epoch: .zero, .set("title", .string("the title of \(id)"), isDefault: false)))
      operations.append(SyncModel.Operation(item, epoch: .zero, .set("count", .int(id), isDefault: false)))
      operations.append(SyncModel.Operation(item, epoch: .zero, .set("isDone", CellValue(.bool(true)) { _ in nil }, isDefault: false)))
      elements += 1
      let bunch = stamp.advanced(by: operations.count)
      let position = ListPosition([ListPosition.Step(gap: 0, bunch: bunch)])
      operations.append(
        SyncModel.Operation(
          item, epoch: .zero, path: [PathStep(.list("tags"), epoch: .zero)],
          .insert(ElementID(replica, elements), at: position, .string("tag"))))
    }
    return changeset(operations)
  }

  /// Ten operations: properties of some of the first objects.
  mutating func change(of objects: Int) -> Changeset {
    var operations: [SyncModel.Operation] = []
    for number in 0..<10 {
      let item = ObjectIdentity("Item", .int(next(below: objects)))
      let action: SyncModel.Operation.Action =
        number.isMultiple(of: 2)
        ? .set("count", .int(Int64(number)), isDefault: false) : .set("title", .string("changed"), isDefault: false)
      operations.append(SyncModel.Operation(item, epoch: .zero, action))
    }
    return changeset(operations)
  }
}
