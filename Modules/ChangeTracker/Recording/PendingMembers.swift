import StorageInterface
import StoreValues

/// The net changes of an open write to sets and maps: a member added and removed cancels out. Savepoints: as for `PendingChanges`.
struct PendingMembers {
  private struct Place: Hashable {
    let column: ColumnID
    let owner: Int64
  }

  /// By collection, then by the member's order key.
  private var collections: [Place: [[UInt8]: MemberChange]] = [:]
  private var maps: Set<ColumnID> = []

  mutating func add(
    _ kind: MemberChange.Kind, _ member: Value, isMap: Bool, _ column: ColumnID, _ owner: ObjectKey
  ) {
    if isMap { maps.insert(column) }
    let key = member.orderKey
    var members = collections.removeValue(forKey: Place(column: column, owner: owner.rawValue)) ?? [:]
    if let before = members[key] {
      members[key] = before.kind.followed(by: kind, inMap: isMap).map { MemberChange(before.member, $0) }
    } else {
      members[key] = MemberChange(member, kind)
    }
    if !members.isEmpty { collections[Place(column: column, owner: owner.rawValue)] = members }
  }

  /// Adds what happened later.
  mutating func add(_ later: PendingMembers) {
    for (place, members) in later.collections {
      let isMap = later.maps.contains(place.column)
      for change in members.values { add(change.kind, change.member, isMap: isMap, place.column, ObjectKey(place.owner)) }
    }
  }

  /// Adds the changes of objects that existed before and after to the tables' changes.
  func merge(into tables: inout [TableChange]) {
    if collections.isEmpty { return }
    for position in tables.indices {
      let table = tables[position].table
      let modified = Dictionary(tables[position].modified.map { ($0.key.rawValue, $0.properties) }) { $1 }
      tables[position].collections = collections
        .filter { $0.key.column.table == table && modified[$0.key.owner]?.contains($0.key.column.property) == true }
        .sorted { ($0.key.owner, $0.key.column.property) < ($1.key.owner, $1.key.column.property) }
        .map { place, members in
          RecordedCollectionChange(
            owner: ObjectKey(place.owner), property: place.column.property,
            members: members.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value))
        }
    }
  }
}
