/** Takes lines now, and writes them soon. */
export interface LineBuffer {
  write(line: string): void
  /** Writes what has not been written yet. */
  flush(): void
}

/**
 * Writes the lines of one turn of the event loop to `stream` at once: under load, a write to a pipe for each line costs
 * more than what the line tells about. Whoever ends the process by itself must call `flush` before.
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
