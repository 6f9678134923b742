/// Collects text and writes it in large pieces, so that not every row costs a system call.
final class OutputBuffer {
  private static let flushCount = 64 * 1024

  private let output: any TextOutput
  private var bytes: [UInt8] = []

  init(_ output: any TextOutput) {
    self.output = output
    bytes.reserveCapacity(OutputBuffer.flushCount * 2)
  }

  func put(_ text: String) throws(InspectionError) {
    bytes.append(contentsOf: text.utf8)
    try flushIfLarge()
  }

  func put(_ text: [UInt8]) throws(InspectionError) {
    bytes.append(contentsOf: text)
    try flushIfLarge()
  }

  /// Writes the rest. Call it once at the end; text that is not flushed is lost.
  func flush() throws(InspectionError) {
    var failure: InspectionError?
    bytes.withUnsafeBytes { piece in
      do throws(InspectionError) { try output.write(piece) } catch { failure = error }
    }
    bytes.removeAll(keepingCapacity: true)
    if let failure { throw failure }
  }

  private func flushIfLarge() throws(InspectionError) {
    if bytes.count >= OutputBuffer.flushCount { try flush() }
  }
}
