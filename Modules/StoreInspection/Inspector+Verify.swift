import StorageInterface
import StoreValues

extension Inspector {
  /// Looks through the whole store and prints what is wrong with it: pages and entries as the engine knows them, indexes
  /// and backlinks against the data, links that lead nowhere, lists, counts and history. Throws status `.damaged`
  /// after the faults were printed when there are any.
  ///
  /// Reads one version while others write. Costs a reading of the file and a look-up for each index entry.
  public func verify() throws(InspectionError) {
    let (report, version) = try withSnapshot { read throws(InspectionError) in
      (try StoreVerifier.verify(engine, read), read.version)
    }
    let faults = report.faults
    switch format {
    case .table:
      let buffer = OutputBuffer(output)
      for fault in faults { try buffer.put("\(DisplayText.escaped(fault.description))\n") }
      try buffer.put(
        "\(faults.isEmpty ? "" : "\n")version \(version.rawValue): \(report.objectCount) objects, "
          + "\(report.indexCount) indexes, \(report.linkCount) links looked at; "
          + (faults.isEmpty ? "no faults\n" : "\(faults.count) \(faults.count == 1 ? "fault" : "faults")\n"))
      try buffer.flush()
    case .json: try print(node(report, version))
    case .ndjson: try printLines(faults.map(Inspector.node))
    case .csv: try printCSV(["place", "fault"], faults.map { [.text($0.place), .text($0.message)] })
    }
    if !faults.isEmpty { throw InspectionError(.damaged, "") }
  }

  private static func node(_ fault: StoreFault) -> ReportNode {
    .object([("place", .text(fault.place)), ("fault", .text(fault.message))])
  }

  private func node(_ report: StoreVerifier.Report, _ version: Version) -> ReportNode {
    .object([
      ("store", .text(location)), ("version", .number(Int(clamping: version.rawValue))),
      ("objects", .number(report.objectCount)), ("indexes", .number(report.indexCount)),
      ("links", .number(report.linkCount)), ("faults", .array(report.faults.map(Inspector.node))),
    ])
  }
}
