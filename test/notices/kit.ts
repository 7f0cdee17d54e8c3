import type { AccountNotice, Compromise, MfaOptions } from '../../src/index.js'
import { challengeStrongest, type HostSetup, jsonAgent, type TestUser } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'
import { type Agent, trustingHost } from '../trust/kit.js'

export const PUBLIC_URL = 'https://shop.example'

/** A host that records its notices and the compromises it is informed about. */
export function noticingHost(setup: HostSetup & { options?: Partial<MfaOptions<TestUser>> } = {}) {
  const notices: { user: TestUser; notice: AccountNotice }[] = []
  const compromises: Compromise[] = []
  const made = trustingHost({
    ...setup,
    options: {
      urls: { publicUrl: PUBLIC_URL },
      ...setup.options,
      notices: {
        onNotice: (user, notice) => void notices.push({ user, notice }),
        onCompromise: (compromise) => void compromises.push(compromise),
        ...setup.options?.notices,
      },
    },
  })
  return {
    ...made,
    notices,
    compromises,
    /** The newest notice of that type. */
    newest: (type: AccountNotice['type']) => {
      const found = notices.map(({ notice }) => notice).findLast((notice) => notice.type === type)
      if (!found)
        throw new Error(`no notice of type ${type}; there are ${notices.map(({ notice }) => notice.type)}`)
      return found
    },
  }
}

export type NoticingHost = ReturnType<typeof noticingHost>

/** Signs a user in with both factors. */
export async function passBothFactors(
  host: NoticingHost,
  name: string,
  options: { trust?: boolean } = {},
  agent = jsonAgent(host.app),
) {
  await login(agent, name).expect(200)
  const code = await challengeStrongest(host, agent, name)
  await verify(agent, code, options).expect(200)
  return agent
}

/** The path of the link in a notice. */
export function linkIn(notice: AccountNotice): string {
  if (!notice.notMeUrl?.startsWith(`${PUBLIC_URL}/`)) throw new Error(`no link: ${notice.notMeUrl}`)
  return notice.notMeUrl.slice(PUBLIC_URL.length)
}

/** Uses the link of a notice in a browser that is not signed in. */
export function followNotMeLink(
  host: NoticingHost,
  notice: AccountNotice,
  agent: Agent = jsonAgent(host.app),
) {
  const token = new URL(notice.notMeUrl ?? '').searchParams.get('token')
  return agent.post('/mfa/not-me').send({ token })
}
