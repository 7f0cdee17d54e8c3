import { createHash, timingSafeEqual } from 'node:crypto'
import type { Request } from 'express'
import type { Application } from '../application.js'

/** Finds the application that an API key belongs to (R85, R86). */
export type Applications = (apiKey: string) => Application | undefined

/** The one application of a service that has one key. The key is kept as its SHA-256. */
export function singleApplication(application: Application, apiKey: string): Applications {
  const expected = sha256(apiKey)
  return (presented) => (timingSafeEqual(sha256(presented), expected) ? application : undefined)
}

/** The key in the `Authorization: Bearer` header; an empty text when there is none. */
export function bearerKey(request: Request): string {
  return /^Bearer +([^\s]{1,512})$/i.exec(request.get('authorization') ?? '')?.[1] ?? ''
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
