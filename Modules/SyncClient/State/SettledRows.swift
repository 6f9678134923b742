import StorageInterface
import StoreValues
import SyncModel

/// Objects without a record: those that nobody has changed since a purge, and of which the row says all.
///
/// A purge makes every register *written, before everything*. Where such a value is what the row shows, is no link, and is neither null nor
/// zero, and where every other property is null or zero and was never written, the record says nothing that the row does not: it is left
/// out, and made from the row when somebody asks. What a property is by default was set by default. Links keep their record, as one may be
/// hidden; so do defaults that were written by intent, and null or zero that was written, since the row cannot tell these apart.
struct SettledRows {
  let sides: any SideWriting
  var names: ObjectNames
  /// Whether the open write made a row: its object is not in the merge state yet.
  var isNew: (ObjectLink) -> Bool = { _ in false }
  /// What a value was before the open write; nil for one that is as it was.
  var before: (ColumnID, ObjectKey) -> Value? = { _, _ in nil }

  /// Whether the engine's rows are written through the library alone. Else what they were has to be kept, to find what others did.
  var isPossible: Bool { !sides.isOpenToOthers }

  /// The record that was left out; nil for an object that is not there.
  ///
  /// - Parameter properties: those whose values the row says.
  func record(of object: ObjectIdentity, _ properties: SortedTable<Name, CellValue>) throws(StorageError) -> ObjectRecord? {
    guard let type = names.type(of: object), let place = try names.place(of: object), !isNew(place) else { return nil }
    // What names an object without a primary key is there until its delete is written down.
    guard try sides.contains(place.table, place.key) else { return nil }
    var contents = Contents()
    for column in type.table.columns where column.schema.isStored {
      let name = Name(column.schema.name)
      if column.schema.isList { contents.setList(name) }
      guard let byDefault = properties[name], type.property(name) != nil else { continue }
      let value = try value(type.table.column(column.id), place.key)
      guard value != SettledRows.nothing(column), let plain = PlainValue(value) else { continue }
      contents.setSettled(name, .plain(plain), isDefault: .plain(plain) == byDefault)
    }
    return ObjectRecord(node: Node(isMade: true, contents: contents))
  }

  /// The record of an object whose row is gone, without its values.
  func goneRecord(of object: ObjectIdentity) -> ObjectRecord? {
    guard let type = names.type(of: object) else { return nil }
    var contents = Contents()
    for column in type.table.columns where column.schema.isList { contents.setList(Name(column.schema.name)) }
    return ObjectRecord(node: Node(isMade: true, contents: contents))
  }

  private func value(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Value {
    if let value = before(column, key) { return value }
    return try sides.value(column, key)
  }

  static func nothing(_ column: ColumnEntry) -> Value {
    guard !column.schema.mayBeNull, case .scalar(let type) = column.schema.kind else { return .null }
    return .zero(of: type)
  }

  /// The properties of a class whose values rows say, with what they are by default.
  func properties(of object: ObjectIdentity) -> SortedTable<Name, CellValue> {
    var properties = SortedTable<Name, CellValue>()
    guard let type = names.type(of: object) else { return properties }
    for column in type.table.columns where column.schema.isStored && type.property(Name(column.schema.name)) != nil {
      properties[Name(column.schema.name)] = PlainValue(column.absentValue).map { .plain($0) } ?? .null
    }
    return properties
  }

  /// Whether the row says all that a record does.
  ///
  /// - Parameters:
  ///   - properties: those whose values it may say.
  ///   - seq: up to where the log is purged.
  func covers(
    _ record: ObjectRecord, of object: ObjectIdentity, _ properties: SortedTable<Name, CellValue>, upTo seq: Seq
  ) throws(StorageError) -> Bool {
    guard let values = record.settledValues, record.lastSeq <= seq, let type = names.type(of: object) else { return false }
    for value in values where properties[value.key] == nil || type.property(value.key) == nil { return false }
    guard let place = try names.place(of: object) else { return false }
    for column in type.table.columns where column.schema.isStored {
      let name = Name(column.schema.name)
      guard let byDefault = properties[name], let property = type.property(name) else { continue }
      let shown = try sides.value(property.id, place.key)
      let nothing = SettledRows.nothing(column)
      guard let register = values[name] else {
        if shown != nothing { return false }
        continue
      }
      guard case .plain(let plain) = register.value, plain.value == shown, shown != nothing else { return false }
      if register.isWritten == (register.value == byDefault) { return false }
    }
    for name in record.node.contents.lists.map(\.key) where type.table[name.text]?.schema.isList != true { return false }
    return true
  }

  /// Every object of some classes.
  func objects(of classes: [Name]) throws(StorageError) -> [ObjectIdentity] {
    var all: [ObjectIdentity] = []
    for name in classes {
      guard let table = sides.catalog[name.text], !table.isEmbedded else { continue }
      var keys: [Int64] = []
      try sides.scan(table.id, [], from: ObjectKey(1), hints: []) { batch in
        for row in 0..<batch.count where batch.isLive(at: row) { keys.append(batch.key(at: row).rawValue) }
        return .proceed
      }
      for key in keys {
        let place = ObjectLink(table.id, ObjectKey(key))
        if isNew(place) { continue }
        if let object = try names.identity(of: place) { all.append(object) }
      }
    }
    return all
  }
}
