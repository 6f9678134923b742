import StorageInterface
import StoreValues

extension Inspector {
  /// Verifies the whole store and prints each fault when it is found: the engine's own check of pages and entries; indexes and
  /// inverses against the data; dangling links; lists, counts and history. Throws status `.damaged` at the end if there are faults.
  ///
  /// Reads one version while others write. Reads the whole file once, and looks up each index entry.
  public func verify() throws(InspectionError) {
    let printer = FaultPrinter(self)
    let (report, version) = try withSnapshot { read throws(InspectionError) in
      (try StoreVerifier.verify(engine, read) { printer.show($0) }, read.version)
    }
    var failure = printer.failure
    if failure == nil { do throws(InspectionError) { try printEnd(report, version) } catch { failure = error } }
    try InspectionError.end(found: report.faults.isEmpty ? nil : InspectionError(.damaged, ""), output: failure)
  }

  private func printEnd(_ report: StoreVerifier.Report, _ version: Version) throws(InspectionError) {
    let count = report.faults.count
    switch format {
    case .table:
      let text = "\(count == 0 ? "" : "\n")version \(version.rawValue): \(report.objectCount) objects, "
        + "\(report.indexCount) indexes, \(report.linkCount) links looked at; "
        + (count == 0 ? "no faults\n" : "\(count) \(count == 1 ? "fault" : "faults")\n")
      try print(Array(text.utf8))
    case .json: try print(node(report, version))
    case .ndjson: break
    case .csv: if count == 0 { try printCSV(FaultPrinter.header, []) }
    }
  }

  fileprivate static func node(_ fault: StoreFault) -> ReportNode {
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

/// Prints faults as they are found. JSON is one document, printed at the end.
private final class FaultPrinter {
  static let header = ["place", "fault"]

  private let inspector: Inspector
  private var hasPrinted = false
  /// The first error of the output. Nothing more is printed after it.
  private(set) var failure: InspectionError?

  init(_ inspector: Inspector) { self.inspector = inspector }

  func show(_ fault: StoreFault) {
    if failure != nil { return }
    defer { hasPrinted = true }
    do throws(InspectionError) {
      switch inspector.format {
      case .table: try inspector.print(Array("\(DisplayText.escaped(fault.description))\n".utf8))
      case .json: break
      case .ndjson: try inspector.printLines([Inspector.node(fault)])
      case .csv:
        let fields: [ShownField] = [.text(fault.place), .text(fault.message)]
        if hasPrinted { try inspector.printCSV(fields) } else { try inspector.printCSV(FaultPrinter.header, [fields]) }
      }
    } catch {
      failure = error
    }
  }
}
