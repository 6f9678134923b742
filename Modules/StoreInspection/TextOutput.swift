#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The destination of a command's text. Not thread-safe: one command at a time.
public protocol TextOutput: AnyObject {
  /// Writes all of `bytes`, UTF-8. Throws `.outputClosed` if the reader closed it, otherwise status `.inputOutput`.
  func write(_ bytes: UnsafeRawBufferPointer) throws(InspectionError)

  /// Whether the output is a terminal: then characters that it would interpret are escaped, in every format.
  var isTerminal: Bool { get }
}

extension TextOutput {
  /// False by default.
  public var isTerminal: Bool { false }
}

/// Keeps the text in memory: for tests, and for programs that show it themselves.
public final class StringOutput: TextOutput {
  private var bytes: [UInt8] = []

  public init() {}

  public func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }

  public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Writes to an open file descriptor, which the caller still owns.
///
/// A process that uses it should ignore SIGPIPE; then a closed pipe is the error `.outputClosed`.
public final class DescriptorOutput: TextOutput {
  private let descriptor: Int32

  public init(_ descriptor: Int32) { self.descriptor = descriptor }

  public var isTerminal: Bool { isatty(descriptor) != 0 }

  public func write(_ bytes: UnsafeRawBufferPointer) throws(InspectionError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      #if canImport(Glibc)
      let written = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      #elseif canImport(Musl)
      let written = Musl.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      #else
      let written = Darwin.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      #endif
      let code = errno
      if written > 0 {
        rest = rest.dropFirst(written)
      } else if written == 0 || code != EINTR {
        if code == EPIPE { throw .outputClosed }
        throw InspectionError(.inputOutput, "The output cannot be written: \(String(cString: strerror(code))).")
      }
    }
  }

  /// The process's standard output.
  public static var standard: DescriptorOutput { DescriptorOutput(STDOUT_FILENO) }

  /// Writes a line.
  public func say(_ line: String) throws(InspectionError) {
    var line = line + "\n"
    let failure = line.withUTF8 { bytes -> InspectionError? in
      do throws(InspectionError) { try write(UnsafeRawBufferPointer(bytes)) } catch { return error }
      return nil
    }
    if let failure { throw failure }
  }
}
