import SyncModel

/// A store's state with a transaction whose acceptance is not decided yet: it holds the objects that the transaction touches, and shares
/// all others with the store. So a transaction costs what it touches, not a copy of the state.
struct TrialState: MergeState {
  private let base: MemoryState
  /// The touched objects.
  private(set) var own = MemoryState()
  private(set) var touched: Set<ObjectIdentity> = []

  init(_ base: MemoryState) { self.base = base }

  private func state(of object: ObjectIdentity) -> MemoryState { touched.contains(object) ? own : base }

  private mutating func touch(_ object: ObjectIdentity) { if touched.insert(object).inserted { own.adopt(object, from: base) } }

  var floor: Stamp { base.floor }

  /// No upload moves the floor.
  mutating func setFloor(_ floor: Stamp) {}

  func record(of object: ObjectIdentity) -> ObjectRecord? { state(of: object).record(of: object) }

  mutating func setRecord(_ record: ObjectRecord?, of object: ObjectIdentity) {
    touch(object)
    own.setRecord(record, of: object)
  }

  func element(_ id: ElementID, near: ListPosition, of list: ListPlace) -> ListElement? {
    state(of: list.object).element(id, near: near, of: list)
  }

  func elements(of list: ListPlace) -> [ListElement] { state(of: list.object).elements(of: list) }

  mutating func replaceElement(_ old: ListElement?, with new: ListElement?, of list: ListPlace) {
    touch(list.object)
    own.replaceElement(old, with: new, of: list)
  }

  mutating func removeLists(of object: ObjectIdentity, under path: [PathStep.Place]) {
    touch(object)
    own.removeLists(of: object, under: path)
  }

  func objectsToPurge(upTo seq: Seq) -> [ObjectIdentity] { base.objectsToPurge(upTo: seq) }
  func linkers(of target: ObjectIdentity) -> [ObjectIdentity] { base.linkers(of: target) }
}
