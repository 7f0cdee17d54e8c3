/**
 * Converts PCM (16 bits, mono) from 16 to 24 kHz by linear interpolation, chunk by chunk: three samples for every two.
 * Speech at 16 kHz has nothing above 8 kHz, which both rates can hold.
 */
export function to24kHz(): (pcm: Buffer) => Buffer {
  let samples = new Int16Array()
  /** Position of the next output sample in `samples`, in thirds of a sample. */
  let thirds = 0

  return (pcm) => {
    const more = Int16Array.from({ length: pcm.length >> 1 }, (_, i) => pcm.readInt16LE(2 * i))
    samples = Int16Array.from([...samples, ...more])
    const output: number[] = []
    for (; Math.floor(thirds / 3) + 1 < samples.length; thirds += 2) {
      const index = Math.floor(thirds / 3)
      const [before = 0, after = 0] = [samples[index], samples[index + 1]]
      output.push(Math.round(before + ((after - before) * (thirds % 3)) / 3))
    }
    const used = Math.min(Math.floor(thirds / 3), samples.length)
    samples = samples.slice(used)
    thirds -= 3 * used
    return Buffer.from(Int16Array.from(output).buffer)
  }
}
