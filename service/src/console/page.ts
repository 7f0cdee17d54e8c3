import type { Request, Response } from 'express'
import type { Html } from '../http/html-page.js'
import type { Operator } from '../operator/operator.js'
import type { OperatorAccount } from '../operator/operator-account.js'
import type { Role } from '../operator/role.js'
import type { ConsoleParts } from './parts.js'
import type { Script } from './scripts.js'

/** A page of the console. */
export interface Page {
  readonly title: string
  readonly main: Html
  /** The entry of the navigation that the page belongs to. */
  readonly section?: Section
  /** What the last request changed, or why it changed nothing. */
  readonly message?: PageMessage
  /** The scripts that improve the page, in this order. It must do without them. Defaults to none. */
  readonly scripts?: readonly Script[]
  /** The HTTP status. Defaults to 200. */
  readonly status?: number
}

/** What a page says about the last request. */
export interface PageMessage {
  readonly tone: 'success' | 'error'
  readonly text: string
}

/** The entries of the navigation. */
export type Section = 'overview' | 'applications' | 'approvals' | 'audit' | 'health' | 'operators'

/** A file that the browser saves. */
export interface Download {
  readonly name: string
  /** Its `Content-Type`. */
  readonly type: string
  readonly body: string
}

/** What a handler responds with: a page, the path of the next page, a file, or a document that a page of the console shows in a frame. */
export type Reply =
  | Page
  | { readonly redirect: string }
  | { readonly download: Download }
  | { readonly framed: string }

/** A request of a signed-in operator. */
export interface PageRequest {
  readonly request: Request
  readonly parts: ConsoleParts
  readonly account: OperatorAccount
  /** Everything that the console can do, under the operator's name. */
  readonly operator: Operator
  /** The fields of a posted form. */
  readonly form: Form
}

/** The fields of a form, each of them one text. */
export interface Form {
  /** The value of a field, without spaces around it; empty when it is missing. */
  text(name: string): string
  /** The value of a field exactly as typed; empty when it is missing. */
  exact(name: string): string
  /** All values of a field with several check boxes. */
  all(name: string): readonly string[]
}

/** A route for signed-in operators. */
export interface PageRoute {
  readonly method: 'get' | 'post'
  readonly path: string
  /** The least role that may use it. */
  readonly least: Role
  /** Whether it shows or changes a secret, and so needs a second factor of the last minutes. */
  readonly stepUp?: boolean
  readonly handle: (request: PageRequest) => Promise<Reply> | Reply
}

/** A route that needs no sign-in. */
export interface PublicRoute {
  readonly method: 'get' | 'post'
  readonly path: string
  readonly handle: (request: Request, response: Response, parts: ConsoleParts) => Promise<Reply> | Reply
}
