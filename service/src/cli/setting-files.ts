import { readFileSync } from 'node:fs'
import { OperatorError } from '../operator/operator-error.js'

/** Replaces `texts=@file.json` and `keyMetadata=@file.json` by the content of the file, which is too long for a command line. */
export function withFiles(written: readonly string[]): string[] {
  return written.map((pair) => {
    const [, name, path] = /^(texts|keyMetadata)=@(.+)$/s.exec(pair) ?? []
    return path === undefined ? pair : `${name}=${contentOf(path)}`
  })
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new OperatorError(
      `The file "${path}" cannot be read: give the path of a JSON file, such as texts=@file.json.`,
    )
  }
}
