/// Where the state is that operations are merged into: a client's records beside its objects, a server's rows, or memory.
///
/// One caller at a time; what a failed call leaves behind is thrown away by its transaction. The merge reads and writes
/// the touched object, and of its lists the touched elements.
public protocol MergeState {
  associatedtype Failure: Error

  /// The highest stamp that a purge has covered; `.zero` before the first. Stored with the records.
  var floor: Stamp { get }
  /// Stores the floor. A purge calls it before it forgets anything, and never with a lower one than before.
  mutating func setFloor(_ floor: Stamp) throws(Failure)

  /// What is known of an object; nil for one of which nothing is. A deleted one has a record until a purge forgets it.
  func record(of object: ObjectIdentity) throws(Failure) -> ObjectRecord?
  /// nil removes it. Its lists are removed by `removeLists`.
  mutating func setRecord(_ record: ObjectRecord?, of object: ObjectIdentity) throws(Failure)

  /// The same record, to be changed and given back by `returnRecord`: nothing else asks for it meanwhile. A state that keeps records in
  /// memory lets go of its own, so that no copy is made.
  mutating func lendRecord(of object: ObjectIdentity) throws(Failure) -> ObjectRecord?
  /// Gives a record back.
  ///
  /// - Parameter isChanged: false for one that is as it was lent, which need not be stored.
  mutating func returnRecord(_ record: ObjectRecord?, of object: ObjectIdentity, isChanged: Bool) throws(Failure)

  /// The element of an id; nil if the list has none, or none any more.
  ///
  /// - Parameter near: where the author of an operation saw it, to find its piece; `.none` if that is not known. It may
  ///   have been moved since.
  func element(_ id: ElementID, near: ListPosition, of list: ListPlace) throws(Failure) -> ListElement?
  /// All elements, in the order of the list. Used by a purge, and to copy an object's state.
  func elements(of list: ListPlace) throws(Failure) -> [ListElement]
  /// Puts an element in the place of another: inserts one (`old` nil), moves or changes it, or removes it (`new` nil).
  mutating func replaceElement(_ old: ListElement?, with new: ListElement?, of list: ListPlace) throws(Failure)
  /// Removes all elements of the lists whose path begins with the given one; all of the object for an empty one.
  mutating func removeLists(of object: ObjectIdentity, under path: [PathStep.Place]) throws(Failure)

  /// Every object that holds something for a purge to forget: a tombstone or an epoch that came with an entry up to `seq`. More
  /// do no harm. One that is missing keeps its epoch while other replicas forget it, and they diverge.
  func objectsToPurge(upTo seq: Seq) throws(Failure) -> [ObjectIdentity]
  /// Every object that may hold a link to the target, whatever the epoch.
  func linkers(of target: ObjectIdentity) throws(Failure) -> [ObjectIdentity]
}

extension MergeState {
  public mutating func lendRecord(of object: ObjectIdentity) throws(Failure) -> ObjectRecord? { try record(of: object) }

  public mutating func returnRecord(_ record: ObjectRecord?, of object: ObjectIdentity, isChanged: Bool) throws(Failure) {
    if isChanged { try setRecord(record, of: object) }
  }
}
