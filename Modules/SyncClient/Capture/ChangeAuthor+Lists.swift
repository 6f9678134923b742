import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel

/// Lists. The record's edits are applied to the elements that the merge state shows, so each keeps its identity when its place changes.
/// Values come from the open write.
extension ChangeAuthor {
  mutating func list(
    _ list: ShownCollection, _ object: ObjectIdentity, _ path: [PathStep.Place], isNew: Bool
  ) throws(StorageError) {
    let place = ListPlace(object: object, path: path)
    let values = try sides.values(list.id, list.owner, 0..<Int.max)
    var before: [ListElement] = []
    for element in try state.elements(of: place) where try wasShown(element, list.column) { before.append(element) }
    let replayed = try replayed(list, before, values, isNew: isNew)
    if replayed.isCleared {
      // What others inserted on devices that were updated earlier stays.
      if !isFilling { try make(object, path, .clear) }
      before = []
    }
    let kept = Set(replayed.slots.compactMap(\.before))
    for (index, element) in before.enumerated() where !kept.contains(index) {
      // An element whose target is gone is hidden; nobody edited it.
      guard try shown.isShown(element, list.column) else { continue }
      try make(object, path, .erase(element.id, near: element.position))
    }
    try arrange(replayed.slots, before, values, list, place)
  }

  private func replayed(
    _ list: ShownCollection, _ before: [ListElement], _ values: [Value], isNew: Bool
  ) throws(StorageError) -> ReplayedList {
    if !isNew, !isComparing, let edits = edits[CommitNotes.Place(list.id, list.owner)],
      let replayed = ReplayedList(count: before.count, edits), replayed.slots.count == values.count
    {
      return replayed
    }
    // The record does not have every edit: for a new object it has none.
    let isEmbedding = shown.embedded(list.column) != nil
    var old: [Value?] = []
    for element in before { old.append(isEmbedding ? nil : try shown.shown(element.slot.value, list.column)) }
    var replayed = ReplayedList(from: before.count, to: values.count) { isEmbedding || old[$0] == values[$1] }
    if isComparing, isEmbedding { replayed.setAll() }
    return replayed
  }

  /// Positions the remaining and the new elements.
  private mutating func arrange(
    _ slots: [ReplayedList.Slot], _ before: [ListElement], _ values: [Value], _ list: ShownCollection, _ place: ListPlace
  ) throws(StorageError) {
    // For each slot, the position of the next element that stays where it is.
    var nextFixed: [ListPosition?] = Array(repeating: nil, count: slots.count)
    var fixed: ListPosition?
    for index in slots.indices.reversed() {
      nextFixed[index] = fixed
      if let old = slots[index].before, !slots[index].isMoved { fixed = before[old].position }
    }
    var previous: ListPosition?
    for (index, slot) in slots.enumerated() {
      guard let old = slot.before else {
        previous = try insert(values[index], after: previous, before: nextFixed[index], list, place)
        continue
      }
      let element = before[old]
      let isInPlace = previous.map { $0 < element.position } ?? true && nextFixed[index].map { element.position < $0 } ?? true
      if slot.isMoved, !isInPlace {
        let stamp = try stamp()
        let to = source.position(after: previous, before: nextFixed[index], stamp: stamp)
        try make(place.object, place.path, .move(element.id, from: element.position, to: to), at: stamp)
        previous = to
      } else {
        previous = element.position
      }
      if slot.isSet { try replace(element, with: values[index], at: previous ?? element.position, list, place) }
    }
  }

  private mutating func insert(
    _ value: Value, after previous: ListPosition?, before next: ListPosition?, _ list: ShownCollection, _ place: ListPlace
  ) throws(StorageError) -> ListPosition {
    let isEmbedding = shown.embedded(list.column) != nil
    let cell = isEmbedding ? CellValue.null : try cell(value, list.column)
    let stamp = try stamp()
    let position = source.position(after: previous, before: next, stamp: stamp)
    standing.elements += 1
    let id = ElementID(standing.replica, standing.elements)
    try make(place.object, place.path, .insert(id, at: position, cell), at: stamp)
    if isEmbedding, case .link(let key) = value {
      try part(list.column, key.rawValue, place.object, place.path + [.element(id)])
    }
    return position
  }

  private mutating func replace(
    _ element: ListElement, with value: Value, at position: ListPosition, _ list: ShownCollection, _ place: ListPlace
  ) throws(StorageError) {
    if shown.embedded(list.column) != nil {
      guard case .link(let key) = value else { return }
      if isMadeNow(list.column, key.rawValue) { try make(place.object, place.path, .setElement(element.id, near: position, .null)) }
      return try part(list.column, key.rawValue, place.object, place.path + [.element(element.id)])
    }
    if try shown.shown(element.slot.value, list.column) == value { return }
    try make(place.object, place.path, .setElement(element.id, near: position, try cell(value, list.column)))
  }

  /// Whether the list showed the element before the write.
  private func wasShown(_ element: ListElement, _ column: ColumnEntry) throws(StorageError) -> Bool {
    guard column.schema.isRelationship else { return true }
    if shown.embedded(column) != nil { return element.slot.node.isMade }
    if case .link(let link) = element.slot.value { return try wasShown(link) }
    return column.schema.mayBeNull
  }
}
