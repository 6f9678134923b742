/// The state of a store in memory: for tests, and for checking an upload before it is stored.
public struct MemoryState: MergeState, Hashable, Sendable {
  public private(set) var floor: Stamp = .zero
  /// The records of all known objects, including deleted ones until a purge forgets them.
  public private(set) var records: [ObjectIdentity: ObjectRecord] = [:]
  private var lists: [ObjectIdentity: [[PathStep.Place]: ListPieces]] = [:]

  /// Creates an empty state.
  public init() {}

  public mutating func setFloor(_ floor: Stamp) { self.floor = floor }

  public func record(of object: ObjectIdentity) -> ObjectRecord? { records[object] }

  public mutating func setRecord(_ record: ObjectRecord?, of object: ObjectIdentity) { records[object] = record }

  public func element(_ id: ElementID, near: ListPosition, of list: ListPlace) -> ListElement? {
    lists[list.object]?[list.path]?.element(id, near: near)
  }

  public func elements(of list: ListPlace) -> [ListElement] { pieces(of: list).elements }

  /// The pieces of a list; empty if the list has no elements or is not known.
  public func pieces(of list: ListPlace) -> ListPieces { lists[list.object]?[list.path] ?? ListPieces() }

  public mutating func replaceElement(_ old: ListElement?, with new: ListElement?, of list: ListPlace) {
    lists[list.object, default: [:]][list.path, default: ListPieces()].replace(old, with: new)
    if lists[list.object]?[list.path]?.isEmpty ?? false { lists[list.object]?[list.path] = nil }
    if lists[list.object]?.isEmpty ?? false { lists[list.object] = nil }
  }

  public mutating func removeLists(of object: ObjectIdentity, under path: [PathStep.Place]) {
    guard let all = lists[object] else { return }
    let left = all.filter { !$0.key.starts(with: path) }
    lists[object] = left.isEmpty ? nil : left
  }

  /// Replaces what this state has of an object by what another state has. O(1).
  public mutating func adopt(_ object: ObjectIdentity, from other: MemoryState) {
    records[object] = other.records[object]
    lists[object] = other.lists[object]
  }

  /// The lists of an object, by path, in their stored pieces.
  package func listPieces(of object: ObjectIdentity) -> [[PathStep.Place]: ListPieces] { lists[object] ?? [:] }

  /// Replaces the lists of an object by stored ones.
  package mutating func setListPieces(_ pieces: [[PathStep.Place]: ListPieces], of object: ObjectIdentity) {
    lists[object] = pieces.isEmpty ? nil : pieces
  }

  /// All objects: this state has no index of what a purge forgets.
  public func objectsToPurge(upTo seq: Seq) -> [ObjectIdentity] { Array(records.keys) }

  /// All objects: this state has no index of links.
  public func linkers(of target: ObjectIdentity) -> [ObjectIdentity] { Array(records.keys) }
}
