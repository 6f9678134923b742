import Foundation

/// The results side by side: a row per workload, a column per engine, and the ratio to the peer that a
/// Vivarium engine is measured against (raw LMDB for lmdb and memory, raw SQLite for sqlite, sqlite for
/// the same with a key).
struct RatioTable {
  private let results: [String: [String: Measurement]]
  private let engines: [String]
  private let workloads: [String]

  init(_ measurements: [Measurement]) {
    let results = Dictionary(grouping: measurements, by: \.workload)
      .mapValues { Dictionary($0.map { ($0.engine, $0) }, uniquingKeysWith: { $1 }) }
    self.results = results
    engines = Engine.allCases.map(\.rawValue).filter { name in measurements.contains { $0.engine == name } }
    workloads = Course.workloads.filter { results[$0] != nil }
  }

  var text: String {
    var rows = [["workload"] + engines]
    for workload in workloads { rows.append([workload] + engines.map { cell(workload, $0) }) }
    let widths = (0...engines.count).map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
    }
    return lines.joined(separator: "\n") + "\n" + differences
  }

  private func cell(_ workload: String, _ engine: String) -> String {
    guard let measurement = results[workload]?[engine] else { return "-" }
    var text = figure(measurement)
    if let peer = peer(of: engine), let other = results[workload]?[peer] {
      let (mine, theirs) =
        measurement.bytes.map { (Double($0), Double(other.bytes ?? 0)) } ?? (measurement.seconds, other.seconds)
      if theirs > 0 { text += String(format: " (%.2fx)", mine / theirs) }
    }
    return text
  }

  private func peer(of engine: String) -> String? {
    switch engine {
    case "lmdb", "lmdb-journal", "memory": "raw-lmdb"
    case "sqlite", "grdb": "raw-sqlite"
    case "lmdb-sealed": "lmdb"
    case "sqlite-sealed": "sqlite"
    default: nil
    }
  }

  private func figure(_ measurement: Measurement) -> String {
    if let bytes = measurement.bytes { return String(format: "%.1f MB", Double(bytes) / 1e6) }
    let seconds = measurement.seconds
    return switch seconds {
    case 1...: String(format: "%.2f s", seconds)
    case 1e-3...: String(format: "%.2f ms", seconds * 1e3)
    case 1e-6...: String(format: "%.2f µs", seconds * 1e6)
    default: String(format: "%.0f ns", seconds * 1e9)
    }
  }

  /// Workloads whose engines did not compute the same.
  private var differences: String {
    workloads.compactMap { workload in
      let checks = Set((results[workload] ?? [:]).values.compactMap(\.check))
      return checks.count > 1 ? "\(workload): the engines disagree: \(checks.sorted().joined(separator: ", "))\n" : nil
    }.joined()
  }
}
