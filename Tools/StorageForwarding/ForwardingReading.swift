import StorageInterface
import StoreValues

/// A transaction in front of another one. A wrapper names its base and writes anew only what it does otherwise.
///
/// Everything is passed on, what has a default too, and the base's powers: what is tried in front of an engine takes the same fast paths
/// as the engine alone. A wrapper that has to see every read gives no powers (`StoragePowers()`), and answers what has a default itself.
public protocol ForwardingReading: StorageReading {
  associatedtype Base
  var base: Base { get }
  /// The base as what can be read.
  var reading: any StorageReading { get }
}

extension ForwardingReading {
  public var version: Version { reading.version }
  public var catalog: Catalog { reading.catalog }
  public var powers: StoragePowers { reading.powers }
  public func count(_ table: TableID) throws(StorageError) -> Int { try reading.count(table) }
  public func contains(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> Bool { try reading.contains(table, key) }
  public func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? { try reading.word(column, key) }
  public func bytes(
    _ column: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void
  ) throws(StorageError) {
    try reading.bytes(column, key, body)
  }
  public func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try reading.scan(table, columns, from: start, hints: hints, body)
  }
  public func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try reading.keys(in: index, range, descending: descending, body)
  }
  public func count(in index: IndexID, _ range: IndexRange) throws(StorageError) -> Int { try reading.count(in: index, range) }
  public func count(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> Int {
    try reading.count(in: index, equalTo: integer)
  }
  public func key(in index: IndexID, equal values: [Value]) throws(StorageError) -> ObjectKey? {
    try reading.key(in: index, equal: values)
  }
  public func key(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> ObjectKey? {
    try reading.key(in: index, equalTo: integer)
  }
  public func elementCount(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int {
    try reading.elementCount(column, owner)
  }
  public func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    try reading.elements(column, owner, range, body)
  }
  public func sources(
    of target: ObjectKey, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try reading.sources(of: target, through: column, body)
  }
  public func sources(
    of target: ObjectLink, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    try reading.sources(of: target, through: column, body)
  }
  public func position(of value: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int? {
    try reading.position(of: value, in: column, owner)
  }
  public func contains(member: Value, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try reading.contains(member: member, in: column, owner)
  }
  public func value(forKey key: String, in column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Value? {
    try reading.value(forKey: key, in: column, owner)
  }
  public func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError) {
    try reading.history(after: version, body)
  }
  public func end() { reading.end() }
}

/// A snapshot in front of another one.
public protocol ForwardingRead: ReadTransaction, ForwardingReading where Base == any ReadTransaction {}

extension ForwardingRead {
  public var reading: any StorageReading { base }
}

/// A write in front of another one.
public protocol ForwardingWrite: WriteTransaction, ForwardingReading where Base == any WriteTransaction {}

extension ForwardingWrite {
  public var reading: any StorageReading { base }
  public var writePowers: WritePowers { base.writePowers }
  public func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey { try base.insert(row) }
  public func reserveKeys(in table: TableID, below key: ObjectKey) throws(StorageError) {
    try base.reserveKeys(in: table, below: key)
  }
  public func delete(_ table: TableID, _ key: ObjectKey) throws(StorageError) { try base.delete(table, key) }
  public func delete(_ table: TableID, all keys: [Int64]) throws(StorageError) -> [Int64] { try base.delete(table, all: keys) }
  public func set(_ column: ColumnID, _ key: ObjectKey, word: Int64?) throws(StorageError) -> Bool {
    try base.set(column, key, word: word)
  }
  public func set(_ column: ColumnID, _ key: ObjectKey, bytes: UnsafeRawBufferPointer?) throws(StorageError) -> Bool {
    try base.set(column, key, bytes: bytes)
  }
  public func edit(_ column: ColumnID, _ owner: ObjectKey, _ edit: ElementEdit) throws(StorageError) {
    try base.edit(column, owner, edit)
  }
  public func insert(member: Value, into column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try base.insert(member: member, into: column, owner)
  }
  public func remove(member: Value, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try base.remove(member: member, from: column, owner)
  }
  public func set(
    _ value: Value, forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> MemberChange.Kind? {
    try base.set(value, forKey: key, in: column, owner)
  }
  public func remove(key: String, from column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    try base.remove(key: key, from: column, owner)
  }
  public func setCatalog(_ catalog: Catalog) throws(StorageError) { try base.setCatalog(catalog) }
  public func beginSavepoint() throws(StorageError) { try base.beginSavepoint() }
  public func releaseSavepoint() throws(StorageError) { try base.releaseSavepoint() }
  public func rollbackToSavepoint() throws(StorageError) { try base.rollbackToSavepoint() }
  public func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    try base.commit(record, durability)
  }
}
