import StorageInterface
import SyncModel

/// A merge state in memory, with the errors of one in a file.
struct KeptState: MergeState, Sendable {
  var memory = MemoryState()

  var floor: Stamp { memory.floor }
  mutating func setFloor(_ floor: Stamp) throws(StorageError) { memory.setFloor(floor) }
  func record(of object: ObjectIdentity) throws(StorageError) -> ObjectRecord? { memory.record(of: object) }
  mutating func setRecord(_ record: ObjectRecord?, of object: ObjectIdentity) throws(StorageError) {
    memory.setRecord(record, of: object)
  }
  func element(_ id: ElementID, near: ListPosition, of list: ListPlace) throws(StorageError) -> ListElement? {
    memory.element(id, near: near, of: list)
  }
  func elements(of list: ListPlace) throws(StorageError) -> [ListElement] { memory.elements(of: list) }
  mutating func replaceElement(_ old: ListElement?, with new: ListElement?, of list: ListPlace) throws(StorageError) {
    memory.replaceElement(old, with: new, of: list)
  }
  mutating func removeLists(of object: ObjectIdentity, under path: [PathStep.Place]) throws(StorageError) {
    memory.removeLists(of: object, under: path)
  }
  func objectsToPurge(upTo seq: Seq) throws(StorageError) -> [ObjectIdentity] { memory.objectsToPurge(upTo: seq) }
  func linkers(of target: ObjectIdentity) throws(StorageError) -> [ObjectIdentity] { memory.linkers(of: target) }
}
