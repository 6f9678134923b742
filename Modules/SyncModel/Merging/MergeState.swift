/// The state that operations are merged into: a client's records beside its objects, a server's rows, or memory.
///
/// One caller at a time. If a call fails, its transaction must be rolled back. The merge reads and writes the touched object, and of its
/// lists the touched elements.
public protocol MergeState {
  associatedtype Failure: Error

  /// The highest stamp that a purge has covered; `.zero` before the first. Stored with the records.
  var floor: Stamp { get }
  /// Stores the floor. A purge calls it before it forgets anything, and never lowers it.
  mutating func setFloor(_ floor: Stamp) throws(Failure)

  /// The record of an object; nil if nothing is known of it. A deleted object has a record until a purge forgets it.
  func record(of object: ObjectIdentity) throws(Failure) -> ObjectRecord?
  /// Stores the record of an object; nil removes it. `removeLists` removes its lists.
  mutating func setRecord(_ record: ObjectRecord?, of object: ObjectIdentity) throws(Failure)

  /// The record of an object, to be changed and given back by `returnRecord`; nothing else reads it in between. A state that keeps
  /// records in memory gives up its own reference, so no copy is made.
  mutating func lendRecord(of object: ObjectIdentity) throws(Failure) -> ObjectRecord?
  /// Gives a record back.
  ///
  /// - Parameter isChanged: false if the record is as it was lent and need not be stored.
  mutating func returnRecord(_ record: ObjectRecord?, of object: ObjectIdentity, isChanged: Bool) throws(Failure)

  /// The element with an id; nil if the list does not have it (any more).
  ///
  /// - Parameter near: where the author of an operation saw it, to find its piece; `.none` if that is not known. It may have been moved
  ///   since.
  func element(_ id: ElementID, near: ListPosition, of list: ListPlace) throws(Failure) -> ListElement?
  /// All elements, in list order. A purge uses it, and the copy of an object's state.
  func elements(of list: ListPlace) throws(Failure) -> [ListElement]
  /// Replaces an element by another: inserts (`old` is nil), moves, changes or removes (`new` is nil).
  mutating func replaceElement(_ old: ListElement?, with new: ListElement?, of list: ListPlace) throws(Failure)
  /// Removes all elements of the lists whose path begins with the given one; with an empty path, all of the object.
  mutating func removeLists(of object: ObjectIdentity, under path: [PathStep.Place]) throws(Failure)

  /// Every object with something that a purge can forget: a tombstone or an epoch from an entry up to `seq`. Extra objects do no harm. A
  /// missing one keeps its epoch while other replicas forget it, and they diverge.
  func objectsToPurge(upTo seq: Seq) throws(Failure) -> [ObjectIdentity]
  /// Every object that may hold a link to the target, at any epoch.
  func linkers(of target: ObjectIdentity) throws(Failure) -> [ObjectIdentity]
}

extension MergeState {
  public mutating func lendRecord(of object: ObjectIdentity) throws(Failure) -> ObjectRecord? { try record(of: object) }

  public mutating func returnRecord(_ record: ObjectRecord?, of object: ObjectIdentity, isChanged: Bool) throws(Failure) {
    if isChanged { try setRecord(record, of: object) }
  }
}
