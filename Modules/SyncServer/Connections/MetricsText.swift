/// Numbers in Prometheus' text format, of a server and of its handlers.
package struct MetricsText {
  package enum Kind: String {
    case gauge
    case counter
  }

  package private(set) var text = ""

  package init() {}

  /// Adds a metric. `labels`, such as `store="/shared/shop"`, may contain nothing that would have to be escaped.
  package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ values: [(labels: String, value: UInt64)]) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    for (labels, value) in values { text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n" }
  }
}
