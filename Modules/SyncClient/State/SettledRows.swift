import StorageInterface
import StoreValues
import SyncModel

/// The objects without a record: nobody has changed them since a purge, and their rows say everything.
///
/// A purge turns the stamp of every register to *before everything*. A record is omitted, and rebuilt from the row on demand, if the row
/// shows the value of each register, none is a link, null or zero, and every other property is null or zero and was never written. A
/// value equal to the property's default counts as a default. These objects keep their record: those with links, as one may be hidden;
/// with a default value that somebody wrote; and with a null or zero that was written. The row cannot tell these cases apart.
struct SettledRows {
  let sides: any SideWriting
  var names: ObjectNames
  /// Whether the open write inserted a row: its object is not in the merge state yet.
  var isNew: (ObjectLink) -> Bool = { _ in false }
  /// A value before the open write; nil if it is unchanged.
  var before: (ColumnID, ObjectKey) -> Value? = { _, _ in nil }

  /// Whether only this library writes the engine's rows. Otherwise the previous values must be stored, to find what other programs
  /// changed.
  var isPossible: Bool { !sides.isOpenToOthers }

  /// Rebuilds the omitted record; nil for an object that does not exist.
  ///
  /// - Parameter properties: the properties whose values the row holds.
  func record(of object: ObjectIdentity, _ properties: SortedTable<Name, CellValue>) throws(StorageError) -> ObjectRecord? {
    guard let type = names.type(of: object), let place = try names.place(of: object), !isNew(place) else { return nil }
    // Without a primary key, the object keeps its identity until its delete is captured, so the row itself must be checked.
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

  /// The record of an object whose row is deleted, without its values.
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

  /// The properties of a class whose values are in rows, with their defaults.
  func properties(of object: ObjectIdentity) -> SortedTable<Name, CellValue> {
    var properties = SortedTable<Name, CellValue>()
    guard let type = names.type(of: object) else { return properties }
    for column in type.table.columns where column.schema.isStored && type.property(Name(column.schema.name)) != nil {
      properties[Name(column.schema.name)] = PlainValue(column.absentValue).map { .plain($0) } ?? .null
    }
    return properties
  }

  /// Whether the row says everything that a record does.
  ///
  /// - Parameters:
  ///   - properties: the properties whose values the row may hold.
  ///   - seq: the entry up to which the log is purged.
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
