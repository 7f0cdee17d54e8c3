/** The maximum size of a recording, in bytes. */
export const MAX_RECORDING_BYTES = 25 * 1024 * 1024

/** Whether the `file` of a `TranscribeRequest` is a URL; otherwise it is a path. */
export function isAddress(file: string): boolean {
  return /^https?:\/\//i.test(file)
}
