/** Collects lines and writes them together. */
export interface LineBuffer {
  write(line: string): void
  /** Writes what has not been written yet. */
  flush(): void
}

/**
 * Writes the lines of one turn of the event loop to `stream` in one call: under load, one write to a pipe per line
 * costs more than the request that the line is about. Code that ends the process must call `flush` first.
 */
export function lineBuffer(stream: { write(lines: string): unknown }): LineBuffer {
  let lines = ''
  const flush = () => {
    if (lines === '') return
    const text = lines
    lines = ''
    stream.write(text)
  }
  return {
    write(line) {
      if (lines === '') setImmediate(flush)
      lines += line
    },
    flush,
  }
}
