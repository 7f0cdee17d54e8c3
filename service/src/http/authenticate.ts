import type { Request } from 'express'
import type { Application } from '../application.js'

/** Finds the application that an API key belongs to (R85, R86). */
export type Applications = (apiKey: string) => Promise<Application | undefined>

/** The key in the `Authorization: Bearer` header; an empty text when there is none. */
export function bearerKey(request: Request): string {
  return /^Bearer +([^\s]{1,512})$/i.exec(request.get('authorization') ?? '')?.[1] ?? ''
}
