/// What the records of one file name again and again, numbered once for the file: names of classes and properties, and replicas. And
/// a time near which its stamps are.
///
/// Numbers are never given to another word. Of more than `namesMax` names, or `replicasMax` replicas, the later ones have none and are
/// written where they are named, so that whoever sends many cannot make every write of the file slow. Confined to its owner.
package final class RecordWords {
  /// Names that get a number.
  package static let namesMax = 4_096
  /// Replicas that get a number.
  package static let replicasMax = 1_024

  /// From which stamps count: near the first that the file had, of its author. nil before that.
  private(set) var start: Stamp?
  /// Whether there are words that the file does not have yet.
  package private(set) var isChanged = false
  private var names: [Name] = []
  private var replicas: [ReplicaID] = []
  private var namePlaces: [Name: Int] = [:]
  private var replicaPlaces: [ReplicaID: Int] = [:]

  /// Of a file that has none yet.
  package init() { isChanged = true }

  /// Takes the first stamp to count from.
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
  /// The same, and a new one where it has none yet; nil where there are too many.
  package func newNumber(of name: Name) -> Int? {
    let code = code(of: name)
    return code == 0 ? nil : code - 1
  }
  /// The name of a number.
  package func name(numbered number: Int) -> Name? { names.indices.contains(number) ? names[number] : nil }

  /// Classes of which an object that has a row and no record is one that nobody has changed since a purge; with the properties whose
  /// values the row then says, and what each was by default, null for none. Properties that the class got later are none of them: nobody
  /// may have written what a row shows there.
  package private(set) var settled: [Name: SortedTable<Name, CellValue>] = [:]

  /// Says that objects of a class may go without a record from now on. False: there are too many names.
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

  /// Says that the file has all words.
  package func settle() { isChanged = false }

  /// Safe for any bytes whatever; memory and time are linear in their number.
  package init(decoding bytes: [UInt8]) throws(CodingError) {
    var reader = ByteReader(bytes)
    let begin = Stamp(time: try reader.fixed(UInt64.self), replica: ReplicaID(try reader.fixed(UInt64.self)))
    start = begin == .zero ? nil : begin
    let count = try reader.count(of: 1)
    guard count <= RecordWords.namesMax else { throw reader.error(.count) }
    for _ in 0..<count {
      guard let text = String(validating: try reader.content(), as: UTF8.self) else { throw reader.error(.text) }
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
