#if Sync
import Foundation

/// The memory of this process.
enum OwnMemory {
  /// What the process has for itself, server, devices and all, in bytes; 0 where the system does not say it.
  static var bytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
    return (Int(line.filter(\.isNumber)) ?? 0) << 10
  }
}
#endif
