/// Memory for the byte strings of an open write: allocated piece by piece, freed all at once.
///
/// `@exclusivity(unchecked)`: used by one thread at a time, and the closure of `fill` runs between accesses.
final class ByteArena {
  @exclusivity(unchecked) private var blocks: [UnsafeMutableRawPointer] = []
  @exclusivity(unchecked) private var free = 0
  @exclusivity(unchecked) private var position = UnsafeMutableRawPointer(bitPattern: 16)
  @exclusivity(unchecked) private var blockSize = 256

  deinit { for block in blocks { block.deallocate() } }

  /// A copy that lives as long as the arena, or until `reset`.
  func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    // Empty bytes get an address too: the null bitmap marks nulls, not the pointer.
    fill(bytes.count) { out in
      if let start = bytes.baseAddress { out.copyMemory(from: start, byteCount: bytes.count) }
    }
  }

  /// New memory, filled by `body`.
  @inline(__always) func fill(_ count: Int, _ body: (UnsafeMutableRawPointer) -> Void) -> UnsafeRawBufferPointer {
    let target = allocate(count)
    body(target)
    return UnsafeRawBufferPointer(start: target, count: count)
  }

  private func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    if let position, count <= free {
      self.position = position + count
      free -= count
      return position
    }
    if count > 4_096 {
      let block = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 8)
      blocks.append(block)
      return block
    }
    blockSize = min(blockSize * 2, 32_768)
    let size = max(blockSize, count)
    let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
    blocks.append(block)
    position = block + count
    free = size - count
    return block
  }

  /// Frees everything.
  func reset() {
    for block in blocks { block.deallocate() }
    blocks.removeAll(keepingCapacity: true)
    free = 0
  }
}
