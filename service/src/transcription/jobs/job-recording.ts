import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { decrypt, encrypt } from '../../store/secrets/encrypt.js'
import type { Queries, Store } from '../../store/store.js'
import type { RecordingSource } from '../sources/recording-source.js'

// Small, because copying a store reads a thousand rows at a time.
const PART_BYTES = 16 * 1024
const PARTS_PER_STATEMENT = 64

/** Stores the file at `path` as the recording of a job. */
export async function storeRecording(tx: Queries, job: string, key: Buffer, path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    const block = Buffer.alloc(PARTS_PER_STATEMENT * PART_BYTES)
    let part = 0
    for (;;) {
      const { bytesRead } = await file.read(block, 0, block.length)
      if (bytesRead === 0) return
      const contents: string[] = []
      for (let start = 0; start < bytesRead; start += PART_BYTES) {
        const content = block.subarray(start, Math.min(start + PART_BYTES, bytesRead))
        contents.push(encrypt(key, nameOf(part + contents.length), content).toString('base64'))
      }
      await tx.query(
        `INSERT INTO transcription_job_part (job, part, content)
         SELECT $1, $2::integer + position - 1, decode(content, 'base64')
         FROM unnest($3::text[]) WITH ORDINALITY AS given (content, position)`,
        [job, part, contents],
      )
      part += contents.length
    }
  } finally {
    await file.close()
  }
}

/** The stored recording of a job. */
export function storedRecording(store: Store, job: string, key: Buffer): RecordingSource {
  return {
    name: 'stored recording',
    async receive(path, signal) {
      const file = await open(path, 'wx', 0o600)
      let bytes = 0
      try {
        for (let part = 0; ; part += PARTS_PER_STATEMENT) {
          signal.throwIfAborted()
          const rows = await store.query<{ content: string }>(
            `SELECT encode(content, 'base64') AS content FROM transcription_job_part
             WHERE job = $1 AND part >= $2 AND part < $3 ORDER BY part`,
            [job, part, part + PARTS_PER_STATEMENT],
          )
          for (const [index, { content }] of rows.entries()) {
            const read = decrypt(key, nameOf(part + index), Buffer.from(content, 'base64'))
            await file.write(read)
            bytes += read.length
          }
          if (rows.length < PARTS_PER_STATEMENT) return { outcome: 'received', path, bytes }
        }
      } finally {
        await file.close()
      }
    },
  }
}

function nameOf(part: number): string {
  return `part ${part}`
}

/** A new key for one job. */
export function newJobKey(): Buffer {
  return randomBytes(32)
}
