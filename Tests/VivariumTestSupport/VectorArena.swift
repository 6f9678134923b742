/// The memory of a few vectors, freed together. Buffers of values and offsets begin at any address, as in a
/// database's page; bitmaps are aligned.
package final class VectorArena {
  private var blocks: [UnsafeMutableRawPointer] = []

  package init() {}

  /// Frees everything that was made here.
  package func free() {
    for block in blocks { block.deallocate() }
    blocks = []
  }

  /// Readable memory for vectors that have no values of their own.
  package var empty: UnsafeRawPointer { UnsafeRawPointer(allocate(8)) }

  private func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    let size = max(8, (count + 7) / 8 * 8)
    let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
    block.initializeMemory(as: UInt8.self, repeating: 0xA5, count: size)
    blocks.append(block)
    return block
  }

  package func bytes(_ bytes: [UInt8], shift: Int) -> UnsafeRawPointer {
    let block = allocate(bytes.count + shift) + shift
    block.copyMemory(from: bytes, byteCount: bytes.count)
    return UnsafeRawPointer(block)
  }

  /// The low `width` bytes of each word, little end first.
  package func words(_ words: [UInt64], width: Int, shift: Int) -> UnsafeRawPointer {
    let block = allocate(words.count * width + shift) + shift
    for (row, word) in words.enumerated() {
      withUnsafeBytes(of: word.littleEndian) { bytes in
        for byte in 0..<width { block.storeBytes(of: bytes[byte], toByteOffset: row * width + byte, as: UInt8.self) }
      }
    }
    return UnsafeRawPointer(block)
  }

  /// A bitmap; `rest` fills the last word's bits beyond the end.
  package func bits(_ bits: [Bool], rest: Bool) -> UnsafePointer<UInt64> {
    let count = max(1, (bits.count + 63) / 64)
    let words = allocate(count * 8).bindMemory(to: UInt64.self, capacity: count)
    for word in 0..<count {
      words[word] = 0
      for bit in 0..<64 {
        let row = word * 64 + bit
        if row < bits.count ? bits[row] : rest { words[word] |= 1 << UInt64(bit) }
      }
    }
    return UnsafePointer(words)
  }
}
