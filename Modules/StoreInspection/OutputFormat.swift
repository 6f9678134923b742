/// The form of a command's output.
public enum OutputFormat: String, Sendable, Hashable, CaseIterable {
  /// Aligned columns for people: long values are cut, control characters escaped. Not for programs.
  case table
  /// One JSON document (RFC 8259).
  case json
  /// One JSON document per line: for tools that read a stream.
  case ndjson
  /// Comma-separated values with a header line (RFC 4180: lines end in CR LF).
  case csv
}
