#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The immutable bytes of one value, shared by reference: an in-memory store keeps them, an on-disk one copies them. Aligned to
/// 16 bytes.
///
/// `@unchecked`: only `init`'s closure writes the memory, before anyone else can hold the object, and `deinit` frees it when
/// nobody does; in between it is only read.
public final class ValueBuffer: @unchecked Sendable {
  private let start: UnsafeMutableRawPointer
  public let count: Int

  /// Allocates the memory; `fill` must initialise all of it.
  public init<E: Error>(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
    start = .allocate(byteCount: max(count, 1), alignment: 16)
    self.count = count
    try fill(UnsafeMutableRawBufferPointer(start: start, count: count))
  }

  public convenience init(copying bytes: UnsafeRawBufferPointer) {
    self.init(count: bytes.count) { $0.copyMemory(from: bytes) }
  }

  public convenience init(_ bytes: [UInt8]) {
    self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
  }

  deinit { start.deallocate() }

  /// Valid while the object lives.
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }
}

/// Compares keys as `memcmp`; a prefix sorts before the longer key. Negative, zero, positive.
@inline(__always)
package func compareBytes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
  let common = min(a.count, b.count)
  if common > 0, let x = a.baseAddress, let y = b.baseAddress {
    let order = memcmp(x, y, common)
    if order != 0 { return Int(order) }
  }
  return a.count - b.count
}

extension Array where Element == UInt8 {
  /// Lends the bytes to a closure with a typed error.
  @inline(__always)
  func lend<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try withUnsafeBufferPointer { bytes throws(E) in try body(UnsafeRawBufferPointer(bytes)) }
  }
}
