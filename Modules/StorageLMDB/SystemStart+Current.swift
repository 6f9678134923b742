#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension SystemStart {
  /// The current boot. All zero if unknown: then nothing is ever restored.
  static let current: SystemStart = {
    var digits: [UInt8] = []
    #if canImport(Darwin)
    var text = [UInt8](repeating: 0, count: 64)
    var size = text.count
    if sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 { digits = text }
    #else
    let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    if file >= 0 {
      var text = [UInt8](repeating: 0, count: 64)
      if read(file, &text, text.count) > 0 { digits = text }
      close(file)
    }
    #endif
    // A UUID in hexadecimal with hyphens.
    let halfBytes = digits.compactMap { UInt64(String(UnicodeScalar($0)), radix: 16) }
    guard halfBytes.count >= 32 else { return SystemStart(high: 0, low: 0) }
    func word(_ part: ArraySlice<UInt64>) -> UInt64 { part.reduce(0) { $0 << 4 | $1 } }
    return SystemStart(high: word(halfBytes[..<16]), low: word(halfBytes[16..<32]))
  }()

  var isKnown: Bool { self != SystemStart(high: 0, low: 0) }
}
