import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createService } from '@countersign/service'
import { codeIn } from '../kit/message-code.js'

const API_KEY = 'a-test-key-of-at-least-32-characters'

/** The MFA service that recipes reach over HTTP, and what it would have sent. */
export async function serviceForRecipes() {
  const service = await createService({
    secret: 'a test secret of at least 32 characters',
    apiKey: API_KEY,
    delivery: 'inbox',
    logger: () => {},
  })
  const listMessages = async (res: ServerResponse) => res.end(JSON.stringify(await service.inbox?.messages()))
  const server = createServer(
    (req, res) => void (req.url === '/inbox' ? listMessages(res) : service.api(req, res)),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    /** Where its messages are listed. */
    inbox: `http://127.0.0.1:${port}/inbox`,
    /** The environment of an app that uses it. */
    env: { MFA_BASE_URL: `http://127.0.0.1:${port}`, MFA_API_KEY: API_KEY },
    /** The code in the newest message to a mailbox or phone. */
    async newestCode(to: string): Promise<string> {
      const [message] = (await service.inbox?.messages({ to })) ?? []
      return codeIn(message?.text)
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await service.close()
    },
  }
}

export type RecipeService = Awaited<ReturnType<typeof serviceForRecipes>>
