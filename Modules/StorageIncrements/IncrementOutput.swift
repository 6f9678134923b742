#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface

/// Writes the header and the blocks of an increment to a file that has another name until it is complete.
final class IncrementOutput {
  private let file: AsideFile
  /// The final path, for errors.
  private let path: String
  private let seal: IncrementSeal
  private var index: UInt64 = 0
  /// How many entries were put.
  private(set) var entries: UInt64 = 0
  private(set) var bytesWritten = 0
  /// The entries of the block that is being filled.
  var out = VarintWriter()

  init(_ file: AsideFile, _ path: String, _ seal: IncrementSeal) throws(StorageError) {
    (self.file, self.path, self.seal) = (file, path, seal)
    try put(seal.header)
  }

  /// Ends an entry that was put to `out`. Writes the block once it is large enough, and then returns true.
  @discardableResult
  func endEntry() throws(StorageError) -> Bool {
    entries += 1
    guard out.bytes.count >= IncrementFormat.blockBytes else { return false }
    try endBlock()
    return true
  }

  /// Writes the block as it is.
  func endBlock(isLast: Bool = false) throws(StorageError) {
    try put(try seal.close(out.bytes, index, flags: isLast ? IncrementFormat.isLast : 0, path: path))
    index += 1
    out.bytes.removeAll(keepingCapacity: true)
  }

  private func put(_ bytes: [UInt8]) throws(StorageError) {
    let number = IncrementOutput.putAll(bytes, file.file)
    guard number == 0 else { throw .system(number, .statement, doing: "write the increment", path: path) }
    bytesWritten += bytes.count
  }

  /// Returns 0 or an errno value.
  private static func putAll(_ bytes: [UInt8], _ file: Int32) -> Int32 {
    bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let count = write(file, UnsafeRawBufferPointer(rebasing: bytes[done...]).baseAddress, bytes.count - done)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return count < 0 ? errno : EIO }
        done += count
      }
      return 0
    }
  }
}
