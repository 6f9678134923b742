#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StorageInterface
import StoreValues

extension Inspector {
  /// Prints kind, version and sizes of the store, which versions are held and by whom, and its types with their counts.
  public func info() throws(InspectionError) {
    let facts = try facts()
    switch format {
    case .table: try printFacts(facts)
    case .json: try print(facts.node)
    case .ndjson: try printLines([facts.node])
    case .csv: try printCSV(["name", "value"], facts.records)
    }
  }

  private func facts() throws(InspectionError) -> StoreFacts {
    // Read before the snapshot, which would add a pin.
    let statistics: StorageStatistics
    do throws(StorageError) { statistics = try engine.statistics() } catch { throw InspectionError(error) }
    return try withSnapshot { read throws(InspectionError) in
      var types: [StoreFacts.TypeFacts] = []
      for table in read.catalog.tables {
        types.append(
          StoreFacts.TypeFacts(
            name: table.name, count: try count(table, read), properties: table.currentColumns.count,
            indexes: table.indexes.count, primaryKey: table.primaryKey?.schema.name))
      }
      return StoreFacts(
        location: location, kind: engine.kind, version: read.version, lastCommit: try lastCommit(read),
        statistics: statistics, types: types)
    }
  }

  /// The record of the snapshot's own commit; nil if the store is new or the history no longer contains it.
  private func lastCommit(_ read: any ReadTransaction) throws(InspectionError) -> CommitRecord? {
    do throws(StorageError) { return try read.newestRecord() } catch { throw InspectionError(error) }
  }

  private func printFacts(_ facts: StoreFacts) throws(InspectionError) {
    let buffer = OutputBuffer(output)
    for (name, text) in facts.lines {
      try buffer.put("\(name)\(String(repeating: " ", count: max(1, 10 - name.count)))\(DisplayText.escaped(text))\n")
    }
    if facts.types.isEmpty { return try buffer.flush() }
    try buffer.put("\n")
    let table = TextTable(
      ["type", "objects", "properties", "indexes", "primary key"], [.leading, .trailing, .trailing, .trailing],
      buffer: buffer)
    for type in facts.types {
      try table.add(
        [type.name, String(type.count), String(type.properties), String(type.indexes), type.primaryKey ?? "-"])
    }
    try table.finish()
  }
}

/// The facts that `info` prints.
private struct StoreFacts {
  struct TypeFacts {
    var name: String
    var count: Int
    var properties: Int
    var indexes: Int
    var primaryKey: String?
  }

  var location: String
  var kind: String
  var version: Version
  var lastCommit: CommitRecord?
  var statistics: StorageStatistics
  /// The time of the report, in milliseconds since 1970.
  var now = Int64(Date().timeIntervalSince1970 * 1000)
  var types: [TypeFacts]

  var lastCommitTime: String? {
    lastCommit.flatMap { record in
      record.timeMilliseconds == 0
        ? nil
        : Timestamp(secondsSince1970: record.timeMilliseconds / 1000, nanoseconds: record.timeMilliseconds % 1000 * 1_000_000).description
    }
  }

  /// How long a version has been held, in milliseconds of the wall clock; nil if the holder did not record it.
  private func age(of pin: VersionPin) -> Int? { pin.sinceMilliseconds.map { max(0, Int(clamping: now - max(0, $0))) } }

  /// The facts for people.
  var lines: [(String, String)] {
    var written = ""
    if let lastCommitTime { written += ", committed \(lastCommitTime)" }
    if let author = lastCommit?.author { written += " by \(author)" }
    var lines = [("store", location), ("backend", kind), ("version", "\(version.rawValue)\(written)")]
    if statistics.fileBytes > 0 {
      lines.append((
        "size",
        "\(statistics.fileBytes) bytes on disk; \(statistics.liveBytes) live, \(statistics.freeBytes) free for the next commits"
      ))
    }
    if let history = statistics.historyVersions {
      lines.append(("history", "versions \(history.lowerBound) to \(history.upperBound)"))
    }
    if statistics.pins.isEmpty { lines.append(("readers", "none")) }
    for pin in statistics.pins {
      let label = pin.label.map { ", '\($0)'" } ?? ""
      let time = age(of: pin).map { ", for \($0 / 1000) s" } ?? ""
      let process = pin.processID == 0 ? "a process that may not write beside the file" : "process \(pin.processID)"
      lines.append(("reader", "version \(pin.version.rawValue) held by \(process)\(label)\(time)"))
    }
    return lines
  }

  var node: ReportNode {
    .object([
      ("store", .text(location)),
      ("backend", .text(kind)),
      ("version", .number(Int(clamping: version.rawValue))),
      ("committed", .text(lastCommitTime)),
      ("author", .text(lastCommit?.author)),
      ("fileBytes", .number(statistics.fileBytes)),
      ("liveBytes", .number(statistics.liveBytes)),
      ("freeBytes", .number(statistics.freeBytes)),
      (
        "history",
        statistics.historyVersions.map { history in
          .object([
            ("first", .number(Int(clamping: history.lowerBound))), ("last", .number(Int(clamping: history.upperBound))),
          ])
        } ?? .null
      ),
      (
        "readers",
        .array(
          statistics.pins.map { pin in
            .object([
              ("version", .number(Int(clamping: pin.version.rawValue))),
              ("process", pin.processID == 0 ? .null : .number(Int(pin.processID))),
              ("label", .text(pin.label)), ("milliseconds", age(of: pin).map { .number($0) } ?? .null),
            ])
          })
      ),
      (
        "types",
        .array(
          types.map { type in
            .object([
              ("type", .text(type.name)), ("count", .number(type.count)), ("properties", .number(type.properties)),
              ("indexes", .number(type.indexes)), ("primaryKey", .text(type.primaryKey)),
            ])
          })
      ),
    ])
  }

  var records: [[ShownField]] {
    var records: [[ShownField]] = [
      [.text("store"), .text(location)], [.text("backend"), .text(kind)],
      [.text("version"), .number(Int(clamping: version.rawValue))],
      [.text("committed"), .text(lastCommitTime)], [.text("author"), .text(lastCommit?.author)],
      [.text("fileBytes"), .number(statistics.fileBytes)], [.text("liveBytes"), .number(statistics.liveBytes)],
      [.text("freeBytes"), .number(statistics.freeBytes)],
      [.text("readers"), .number(statistics.pins.count)],
    ]
    for type in types { records.append([.text("count.\(type.name)"), .number(type.count)]) }
    return records
  }
}
