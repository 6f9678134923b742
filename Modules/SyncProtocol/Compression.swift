import CVivariumZlib

/// zlib, with a limit to the size of the output.
enum Compression {
  /// The size to which a body may inflate whatever its ratio.
  static let alwaysAllowed = 64 << 10

  /// Returns nil if zlib fails: the body is then sent uncompressed.
  static func deflated(_ body: [UInt8]) -> [UInt8]? {
    guard !body.isEmpty, body.count < Int(UInt32.max) / 2 else { return nil }
    var count = compressBound(uLong(body.count))
    var code = Z_OK
    let result = [UInt8](unsafeUninitializedCapacity: Int(count)) { result, made in
      body.withUnsafeBufferPointer {
        code = compress2(result.baseAddress, &count, $0.baseAddress, uLong($0.count), Z_DEFAULT_COMPRESSION)
      }
      made = code == Z_OK ? Int(count) : 0
    }
    return code == Z_OK ? result : nil
  }

  /// Throws `.badCompression` for bytes that are not exactly one zlib stream, and `.limitExceeded` as soon as more than `most` bytes come
  /// out.
  static func inflated(_ packed: [UInt8], most: Int) throws(FrameError) -> [UInt8] {
    var stream = z_stream()
    guard czlib_inflate_begin(&stream) == Z_OK else { throw FrameError(.badCompression, "zlib could not begin.") }
    defer { inflateEnd(&stream) }
    var input = packed
    var result: [UInt8] = []
    // Most messages are small.
    var block = [UInt8](repeating: 0, count: min(32 << 10, max(1 << 10, packed.count * 4)))
    var (code, consumed) = (Z_OK, 0)
    while code == Z_OK {
      let made = input.withUnsafeMutableBufferPointer { input in
        block.withUnsafeMutableBufferPointer { block in
          stream.next_in = input.baseAddress.map { $0 + consumed }
          stream.avail_in = UInt32(input.count - consumed)
          stream.next_out = block.baseAddress
          stream.avail_out = UInt32(block.count)
          code = inflate(&stream, Z_NO_FLUSH)
          consumed = input.count - Int(stream.avail_in)
          return block.count - Int(stream.avail_out)
        }
      }
      guard result.count + made <= most else {
        throw FrameError(.limitExceeded, "A message of \(packed.count) compressed bytes becomes more than \(most).")
      }
      result += block[..<made]
      // If the input ends before the stream does, zlib reports it, with Z_BUF_ERROR at the latest.
    }
    guard code == Z_STREAM_END, consumed == packed.count else {
      throw FrameError(.badCompression, "zlib ended with \(code) at byte \(consumed) of \(packed.count).")
    }
    return result
  }
}
