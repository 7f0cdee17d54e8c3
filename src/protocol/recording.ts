/** The largest file that is transcribed, in bytes. */
export const MAX_RECORDING_BYTES = 25 * 1024 * 1024

/** Whether the `file` of a `TranscribeRequest` is an address; anything else is a path. */
export function isAddress(file: string): boolean {
  return /^https?:\/\//i.test(file)
}
