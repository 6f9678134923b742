#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

/// Sets and maps are sorted lists: of members by value, of entries by key.
extension ColumnWrite {
  func insert(member: Value, into column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try checkWritable()
    let table = try table(column.table)
    let slot = try setSlot(table, column.property)
    let shape = table.shapes[slot]
    guard member.isNull ? shape.isOptional : member.fits(shape.type) else { throw .mismatch(shape, member.description) }
    let (found, list) = try locate(.member(member), table, slot, owner)
    if found.isThere { return false }
    try apply(.insert(at: found.position, [member]), to: list, table, slot, owner)
    return true
  }

  func remove(member: Value, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try checkWritable()
    let table = try table(column.table)
    let slot = try setSlot(table, column.property)
    let (found, list) = try locate(.member(member), table, slot, owner)
    guard found.isThere else { return false }
    try apply(.remove(found.position..<found.position + 1), to: list, table, slot, owner)
    return true
  }

  func set(
    _ value: Value, forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> MemberChange.Kind? {
    try checkWritable()
    let table = try table(column.table)
    let slot = try mapSlot(table, column.property)
    let shape = table.shapes[slot]
    guard value.isNull ? shape.isOptional : value.fits(shape.type) else { throw .mismatch(shape, value.description) }
    let bytes = Array(key.utf8)
    let (found, list) = try locate(.key(bytes), table, slot, owner)
    let entry = MapEntry.encode(bytes, value, shape.type)
    guard entry.count <= Int(Int32.max) else { throw .tooLarge(table.entry.name) }
    if found.isThere {
      let context = MemberContext(table: table, slot: slot, owner: owner.rawValue)
      if try run(list.segments[found.segment], context).bytes(found.offset) == entry { return nil }
      try apply(.set(at: found.position, .data(Data(entry))), to: list, table, slot, owner)
      return .modified
    }
    try apply(.insert(at: found.position, [.data(Data(entry))]), to: list, table, slot, owner)
    return .inserted
  }

  func remove(key: String, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try checkWritable()
    let table = try table(column.table)
    let slot = try mapSlot(table, column.property)
    let (found, list) = try locate(.key(Array(key.utf8)), table, slot, owner)
    guard found.isThere else { return false }
    try apply(.remove(found.position..<found.position + 1), to: list, table, slot, owner)
    return true
  }

  private func locate(
    _ probe: MemberProbe, _ table: TableState, _ slot: Int, _ owner: ObjectKey
  ) throws(StorageError) -> ((segment: Int, offset: Int, position: Int, isThere: Bool), EditedList) {
    let (chunk, position) = try place(table, owner)
    let list: EditedList
    if let edited = table.lists[ListOwner(slot: slot, owner: owner.rawValue)] { list = edited } else {
      list = try openList(table, slot, chunk, position, owner.rawValue)
    }
    let context = MemberContext(table: table, slot: slot, owner: owner.rawValue)
    return (try find(probe, list.segments, context), list)
  }
}
