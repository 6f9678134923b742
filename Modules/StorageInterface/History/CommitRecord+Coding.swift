import StoreValues

/// The encoding of a commit record, the same for every engine (Docs/FileFormat.md): a format number, then variable-length
/// integers (7 bits a byte, low first; signed ones zigzag), keys as differences. Format 2 adds changes of sets and maps after
/// the lists of each table, format 3 values after the tables. Each record is written in the lowest sufficient format.
extension CommitRecord {
  static let format: UInt64 = 3

  /// Encodes the record without the version, which is the engine's key for it.
  public func encoded() -> [UInt8] {
    var out = VarintWriter()
    // Most are small: allocated once.
    out.bytes.reserveCapacity(64 + (author?.utf8.count ?? 0) + tables.reduce(0) { $0 + $1.modified.count * 4 })
    let format: UInt64 = !values.isEmpty ? 3 : tables.allSatisfy({ $0.collections.isEmpty }) ? 1 : 2
    out.put(format)
    out.put(changedCatalog ? 1 : 0)
    out.put(origin)
    out.putSigned(timeMilliseconds)
    if let author {
      out.put(UInt64(author.utf8.count) + 1)
      out.bytes += author.utf8
    } else {
      out.put(0)
    }
    out.put(UInt64(tables.count))
    for table in tables { table.encode(to: &out, format: format) }
    if format >= 3 {
      out.put(UInt64(values.count))
      for value in values { value.encode(to: &out) }
    }
    return out.bytes
  }

  /// Throws `.corrupt` for bytes that are not a record and `.unsupportedVersion` for a newer format. Safe for arbitrary bytes.
  public init(version: Version, encoded: UnsafeRawBufferPointer) throws(StorageError) {
    var rest = UnsafeRawBufferPointer(start: nil, count: 0)
    try self.init(version: version, encoded: encoded, rest: &rest)
  }

  /// As `init(version:encoded:)`. `rest` receives the bytes after the record, where engines may keep private data.
  package init(
    version: Version, encoded: UnsafeRawBufferPointer, rest: inout UnsafeRawBufferPointer
  ) throws(StorageError) {
    var input = VarintReader(encoded)
    try self.init(version: version, from: &input)
    rest = input.rest
  }

  private init(version: Version, from input: inout VarintReader) throws(StorageError) {
    let format = try input.next()
    guard format >= 1, format <= CommitRecord.format else {
      throw StorageError(
        .unsupportedVersion, .engine, "The history has commit records of format \(format).",
        remedy: "Open the file with a newer build.")
    }
    let flags = try input.next()
    let origin = try input.next()
    let time = try input.nextSigned()
    let authorLength = try input.next()
    var author: String?
    if authorLength > 0 { author = String(decoding: try input.bytes(authorLength - 1), as: UTF8.self) }
    let count = try input.count()
    var tables: [TableChange] = []
    // Each table takes at least a byte, but more than that in memory.
    tables.reserveCapacity(min(count, 64))
    for _ in 0..<count { tables.append(try TableChange(from: &input, format: format)) }
    var values: [RecordedValueChange] = []
    if format >= 3 {
      for _ in 0..<(try input.count()) { values.append(try RecordedValueChange(from: &input)) }
    }
    self.init(
      author: author, origin: origin, timeMilliseconds: time, changedCatalog: flags & 1 == 1, tables: tables)
    self.version = version
    self.values = values
    // No commit can have named more; this prevents overflows of sums below.
    var named = 0
    for table in tables {
      for run in table.inserted.runs + table.deleted.runs {
        named = min(named + min(run.count, CommitRecord.keysMax), CommitRecord.keysMax)
      }
    }
    guard named < CommitRecord.keysMax else { throw VarintReader.damaged }
  }

  private static let keysMax = 1 << 40
}

extension TableChange {
  fileprivate func encode(to out: inout VarintWriter, format: UInt64) {
    out.put(UInt64(table.rawValue))
    for keys in [inserted, deleted] {
      out.put(UInt64(keys.runs.count))
      var last: Int64 = 0
      for run in keys.runs {
        out.putSigned(run.lowerBound &- last)
        out.put(UInt64(run.upperBound &- run.lowerBound))
        last = run.upperBound
      }
    }
    out.put(UInt64(modified.count))
    var last: Int64 = 0
    for object in modified {
      out.putSigned(object.key.rawValue &- last)
      last = object.key.rawValue
      object.properties.encode(to: &out)
    }
    out.put(UInt64(lists.count))
    last = 0
    for list in lists {
      out.putSigned(list.owner.rawValue &- last)
      last = list.owner.rawValue
      out.put(UInt64(list.property.rawValue))
      out.put(UInt64(list.edits.count))
      for edit in list.edits { edit.encode(to: &out) }
    }
    if format == 1 { return }
    out.put(UInt64(collections.count))
    last = 0
    for collection in collections {
      out.putSigned(collection.owner.rawValue &- last)
      last = collection.owner.rawValue
      out.put(UInt64(collection.property.rawValue))
      out.put(UInt64(collection.members.count))
      for member in collection.members { member.encode(to: &out) }
    }
  }

  fileprivate init(from input: inout VarintReader, format: UInt64) throws(StorageError) {
    self.init(table: TableID(try input.small()))
    inserted = try KeyRuns(from: &input)
    deleted = try KeyRuns(from: &input)
    var last: Int64 = 0
    for _ in 0..<(try input.count()) {
      last = try input.key(after: last)
      var words: [UInt64] = []
      let wordCount = try input.count()
      if wordCount == 1 {
        modified.append(ModifiedObject(key: ObjectKey(last), properties: PropertySet(word: try input.next())))
        continue
      }
      guard wordCount <= PropertySet.wordsMax else { throw VarintReader.damaged }
      for _ in 0..<wordCount { words.append(try input.next()) }
      modified.append(ModifiedObject(key: ObjectKey(last), properties: PropertySet(words: words)))
    }
    last = 0
    for _ in 0..<(try input.count()) {
      last = try input.key(after: last)
      let property = PropertyID(try input.small())
      var edits: [ListChange.Edit] = []
      for _ in 0..<(try input.count()) { edits.append(try ListChange.Edit(from: &input)) }
      lists.append(ListChange(owner: ObjectKey(last), property: property, edits: edits))
    }
    if format == 1 { return }
    last = 0
    for _ in 0..<(try input.count()) {
      last = try input.key(after: last)
      let property = PropertyID(try input.small())
      var members: [MemberChange] = []
      for _ in 0..<(try input.count()) { members.append(try MemberChange(from: &input)) }
      collections.append(RecordedCollectionChange(owner: ObjectKey(last), property: property, members: members))
    }
  }
}

extension MemberChange {
  fileprivate func encode(to out: inout VarintWriter) {
    out.put(UInt64(kind.rawValue))
    out.put(member)
  }

  fileprivate init(from input: inout VarintReader) throws(StorageError) {
    guard let kind = UInt8(exactly: try input.next()).flatMap(Kind.init(rawValue:)) else { throw VarintReader.damaged }
    self.init(try input.value(), kind)
  }
}

extension KeyRuns {
  fileprivate init(from input: inout VarintReader) throws(StorageError) {
    var runs: [ClosedRange<Int64>] = []
    var last: Int64 = 0
    for _ in 0..<(try input.count()) {
      let lower = last &+ (try input.nextSigned())
      let length = try input.next()
      guard length <= UInt64(Int64.max), lower >= 1,
        case let (upper, overflow) = lower.addingReportingOverflow(Int64(length)), !overflow
      else { throw VarintReader.damaged }
      runs.append(lower...upper)
      last = upper
    }
    self.init(runs: runs)
  }
}

extension ListChange.Edit {
  fileprivate func encode(to out: inout VarintWriter) {
    let (kind, a, b): (UInt64, Int, Int) =
      switch self {
      case .insert(let at, let count): (0, at, count)
      case .remove(let range): (1, range.lowerBound, range.count)
      case .set(let at): (2, at, 0)
      case .move(let from, let to): (3, from, to)
      case .clear: (4, 0, 0)
      }
    out.put(kind)
    out.put(UInt64(a))
    out.put(UInt64(b))
  }

  fileprivate init(from input: inout VarintReader) throws(StorageError) {
    let kind = try input.next()
    let a = try input.position()
    let b = try input.position()
    switch kind {
    case 0: self = .insert(at: a, count: b)
    case 1: self = .remove(a..<a + b)
    case 2: self = .set(at: a)
    case 3: self = .move(from: a, to: b)
    case 4: self = .clear
    default: throw VarintReader.damaged
    }
  }
}
