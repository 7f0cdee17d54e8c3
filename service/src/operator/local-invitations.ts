import { chmod, rm } from 'node:fs/promises'
import { createConnection, createServer, type Socket } from 'node:net'
import { join, relative, resolve } from 'node:path'
import * as z from 'zod'
import { OperatorError } from './audited-change.js'
import type { Operator } from './operator.js'
import type { Invitation } from './operator-invitations.js'
import { checkRole } from './rights.js'

const MAX_BYTES = 4_096
const ANSWER_WITHIN_MS = 10_000

const requestRule = z.object({ as: z.string().min(1), email: z.string(), role: z.string().optional() })
/** Who is invited, and by whom. */
export type LocalInvitation = z.output<typeof requestRule>

const answerRule = z.union([
  z.object({ token: z.string(), expiresAt: z.number(), console: z.string().optional() }),
  z.object({ faults: z.array(z.string()) }),
])
type Answer = z.output<typeof answerRule>

/** An invitation that the running service made, and the address of its console, if it knows one. */
export interface LocalAnswer extends Invitation {
  readonly console?: string | undefined
}

/** The socket of a data folder. A path relative to the working folder, since sockets allow about 100 characters. */
function getSocketPath(dataDir: string): string {
  const absolute = join(resolve(dataDir), 'operator.sock')
  const short = relative(process.cwd(), absolute)
  return short.length < absolute.length ? short : absolute
}

/**
 * Accepts invitations from commands on this machine while the service holds the lock of its data folder, which keeps the commands
 * from the database. Only the system user of the service can open the socket, and that user could read the folder anyway. Resolves
 * to a function that stops it; rejects when the system has no such sockets.
 */
export async function acceptLocalInvitations(
  dataDir: string,
  operator: (name: string) => Operator,
  console: string | undefined,
): Promise<() => void> {
  const path = getSocketPath(dataDir)
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy())
    answerTo(socket, operator, console).then(
      (answer) => socket.end(JSON.stringify(answer)),
      () => socket.destroy(),
    )
  })
  // Left by a process that was killed: this one holds the lock of the folder.
  await rm(path, { force: true })
  // From the beginning, so that no other user can connect in between.
  const mask = process.umask(0o177)
  try {
    await new Promise<void>((done, fail) => {
      server.once('error', fail)
      server.listen(path, done)
      process.umask(mask)
    })
  } finally {
    process.umask(mask)
  }
  await chmod(path, 0o600)
  server.unref()
  return () => void server.close()
}

async function answerTo(
  socket: Socket,
  operator: (name: string) => Operator,
  console: string | undefined,
): Promise<Answer> {
  const { as, email, role } = requestRule.parse(JSON.parse(await readText(socket)))
  try {
    if (role !== undefined) checkRole(role)
    const { token, expiresAt } = await operator(as).inviteOperator({ email, role })
    return { token, expiresAt, console }
  } catch (error) {
    if (error instanceof OperatorError) return { faults: [...error.faults] }
    throw error
  }
}

async function readText(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  // The answer follows on the same socket.
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    length += chunk.length
    if (length > MAX_BYTES) throw new RangeError(`a message on the socket is longer than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Asks the service that runs on this data folder for an invitation; `undefined` when none runs. Throws an `OperatorError` that it reports. */
export async function inviteLocally(
  dataDir: string,
  invitation: LocalInvitation,
): Promise<LocalAnswer | undefined> {
  const socket = createConnection({ path: getSocketPath(dataDir), allowHalfOpen: true })
  try {
    await new Promise<void>((done, fail) => socket.once('connect', done).once('error', fail))
  } catch {
    return undefined
  }
  socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy(new Error('The running service did not answer.')))
  socket.end(JSON.stringify(invitation))
  const answer = answerRule.parse(JSON.parse(await readText(socket)))
  if ('faults' in answer) throw new OperatorError(...answer.faults)
  return answer
}
