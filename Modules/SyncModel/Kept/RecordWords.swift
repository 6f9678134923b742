/// Numbers for what the records of one file name again and again, assigned once for the file: names of classes and properties, and
/// replicas. Also the stamp from which the stamps of records are counted.
///
/// A number is never reused. Beyond `namesMax` names or `replicasMax` replicas, further ones get no number and are written inline, so a
/// peer that sends many cannot slow down every write of the file. Confined to its owner.
package final class RecordWords {
  /// The maximal number of names with a number.
  package static let namesMax = 4_096
  /// The maximal number of replicas with a number.
  package static let replicasMax = 1_024

  /// The stamp from which stamps are counted: the millisecond and author of the first stamp in the file. nil before that.
  private(set) var start: Stamp?
  /// Whether there are words that are not in the file yet.
  package private(set) var isChanged = false
  private var names: [Name] = []
  private var replicas: [ReplicaID] = []
  private var namePlaces: [Name: Int] = [:]
  private var replicaPlaces: [ReplicaID: Int] = [:]

  /// Creates the words of a new file.
  package init() { isChanged = true }

  /// Sets the stamp to count from, unless it is set, and returns it.
  func begin(at stamp: Stamp) -> Stamp {
    if let start { return start }
    _ = code(of: stamp.replica)
    let begin = Stamp(time: stamp.milliseconds << 16, replica: stamp.replica)
    start = begin
    isChanged = true
    return begin
  }

  /// 0 for a name without a number; others count from 1.
  func code(of name: Name) -> Int {
    if let place = namePlaces[name] { return place + 1 }
    if names.count >= RecordWords.namesMax { return 0 }
    namePlaces[name] = names.count
    names.append(name)
    isChanged = true
    return names.count
  }

  /// 0 for a replica without a number; others count from 1.
  func code(of replica: ReplicaID) -> Int {
    if replica == replicas.first { return 1 }
    if let place = replicaPlaces[replica] { return place + 1 }
    if replicas.count >= RecordWords.replicasMax { return 0 }
    replicaPlaces[replica] = replicas.count
    replicas.append(replica)
    isChanged = true
    return replicas.count
  }

  func name(_ code: UInt64) -> Name? { code >= 1 && code <= UInt64(names.count) ? names[Int(code - 1)] : nil }
  func replica(_ code: UInt64) -> ReplicaID? { code >= 1 && code <= UInt64(replicas.count) ? replicas[Int(code - 1)] : nil }

  /// The number of a name; nil for one that has none.
  package func number(of name: Name) -> Int? { namePlaces[name] }
  /// The number of a name, assigning one if it has none; nil if there are too many names.
  package func newNumber(of name: Name) -> Int? {
    let code = code(of: name)
    return code == 0 ? nil : code - 1
  }
  /// The name with a number.
  package func name(numbered number: Int) -> Name? { names.indices.contains(number) ? names[number] : nil }

  /// The classes whose objects may have no record: an object of such a class that has a row but no record has not been changed since a
  /// purge. The table has the properties whose values the row then holds, and the default of each, or null if it has none. Properties
  /// added to the class later are not in the table, because nobody may have written the value that a row shows there.
  package private(set) var settled: [Name: SortedTable<Name, CellValue>] = [:]

  /// Allows objects of a class to have no record from now on. Returns false if there are too many names.
  package func settle(class name: Name, _ properties: SortedTable<Name, CellValue>) -> Bool {
    if settled[name] != nil { return true }
    for name in [name] + properties.map(\.key) where code(of: name) == 0 { return false }
    settled[name] = properties
    isChanged = true
    return true
  }

  // MARK: coding

  /// The bytes of all words. O(words).
  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.put(fixed: start?.time ?? 0)
    writer.put(fixed: start?.replica.rawValue ?? 0)
    writer.put(names.count)
    for name in names { writer.put(name.text.utf8) }
    writer.put(replicas.count)
    for replica in replicas { writer.put(fixed: replica.rawValue) }
    var classes = KeptWriter(self)
    classes.body.put(settled.count)
    for (name, properties) in settled.sorted(by: { $0.key < $1.key }) {
      classes.put(name)
      classes.body.put(properties.count)
      for property in properties {
        classes.put(property.key)
        classes.put(property.value)
      }
    }
    writer.put(raw: classes.body.bytes)
    return writer.bytes
  }

  /// Notes that all words are in the file.
  package func settle() { isChanged = false }

  /// Decodes the words. Safe for arbitrary bytes; memory and time are linear in their number.
  package init(decoding bytes: [UInt8]) throws(CodingError) {
    var reader = ByteReader(bytes)
    let begin = Stamp(time: try reader.fixed(UInt64.self), replica: ReplicaID(try reader.fixed(UInt64.self)))
    start = begin == .zero ? nil : begin
    let count = try reader.count(of: 1)
    guard count <= RecordWords.namesMax else { throw reader.error(.count) }
    for _ in 0..<count {
      let text = try reader.text()
      namePlaces[Name(text)] = names.count
      names.append(Name(text))
    }
    let known = try reader.count(of: 8)
    guard known <= RecordWords.replicasMax else { throw reader.error(.count) }
    for _ in 0..<known {
      let replica = ReplicaID(try reader.fixed(UInt64.self))
      replicaPlaces[replica] = replicas.count
      replicas.append(replica)
    }
    try readSettled(Array(try reader.raw(reader.left)))
  }

  private func readSettled(_ bytes: [UInt8]) throws(CodingError) {
    var reader = KeptReader(bytes, self)
    for _ in 0..<(try reader.body.count(of: 2)) {
      let name = try reader.name()
      var properties = SortedTable<Name, CellValue>()
      for _ in 0..<(try reader.body.count(of: 2)) {
        let property = try reader.ascending(try reader.name(), after: properties.last?.key)
        properties.append(property, try reader.value())
      }
      settled[name] = properties
    }
    try reader.body.end()
  }
}
