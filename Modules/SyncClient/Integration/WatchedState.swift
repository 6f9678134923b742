import StorageInterface
import SyncModel

/// A merge state that remembers the element that the last operation replaced. The element's position, and whether it was shown, are not
/// in the effects, and no longer in the state when those are applied.
struct WatchedState<Base: MergeState>: MergeState where Base.Failure == StorageError {
  var base: Base
  /// The element before the operation, by its list. An operation inside an element may replace an element of a list in it, and the
  /// enclosing element.
  var replaced: [ListPlace: ListElement] = [:]

  init(_ base: Base) { self.base = base }

  var floor: Stamp { base.floor }
  mutating func setFloor(_ floor: Stamp) throws(StorageError) { try base.setFloor(floor) }

  func record(of object: ObjectIdentity) throws(StorageError) -> ObjectRecord? { try base.record(of: object) }
  mutating func setRecord(_ record: ObjectRecord?, of object: ObjectIdentity) throws(StorageError) {
    try base.setRecord(record, of: object)
  }

  func element(_ id: ElementID, near: ListPosition, of list: ListPlace) throws(StorageError) -> ListElement? {
    try base.element(id, near: near, of: list)
  }
  func elements(of list: ListPlace) throws(StorageError) -> [ListElement] { try base.elements(of: list) }
  mutating func replaceElement(_ old: ListElement?, with new: ListElement?, of list: ListPlace) throws(StorageError) {
    replaced[list] = old
    try base.replaceElement(old, with: new, of: list)
  }
  mutating func removeLists(of object: ObjectIdentity, under path: [PathStep.Place]) throws(StorageError) {
    try base.removeLists(of: object, under: path)
  }

  func objectsToPurge(upTo seq: Seq) throws(StorageError) -> [ObjectIdentity] { try base.objectsToPurge(upTo: seq) }
  func linkers(of target: ObjectIdentity) throws(StorageError) -> [ObjectIdentity] { try base.linkers(of: target) }
}
