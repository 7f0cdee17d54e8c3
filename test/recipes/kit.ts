import { execFile } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type TestAgent from 'supertest/lib/agent.js'
import { expect } from 'vitest'
import { codeIn } from '../kit/message-code.js'
import { type RunningProcess, startProcess } from '../kit/process.js'
import { challenge, verify } from '../kit/sign-in.js'
import { type Consumer, consumer, EXPRESS_5_TYPES, type Installed, ROOT } from '../package/kit.js'

const run = promisify(execFile)

/** A recipe in a folder of its own, with the packed package and the packages that its package.json names. */
export interface Recipe extends Consumer {
  /** Starts a script of the recipe, and waits until it says where it listens. */
  start(script: string, env?: Readonly<Record<string, string>>): Promise<RunningProcess>
}

/**
 * Copies a recipe into a new folder and installs what its package.json names. Nothing is fetched.
 * @param missing - packages too large for this repository, which are not installed
 */
export async function openRecipe(
  name: string,
  { missing = [] }: { missing?: readonly string[] } = {},
): Promise<Recipe> {
  const source = join(ROOT, 'recipes', name)
  const { dependencies = {}, devDependencies = {} } = JSON.parse(
    await readFile(join(source, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>> | undefined>
  const named = { ...dependencies, ...devDependencies }
  const installed: Record<string, string> = {}
  for (const [dependency, range] of Object.entries(named)) {
    if (dependency === 'countersign' || missing.includes(dependency)) continue
    if (dependency === '@countersign/service') {
      installed[dependency] = dependency
      continue
    }
    installed[dependency] = await sourceOf(dependency, range)
  }
  const types: Installed = devDependencies['@types/express'] ? EXPRESS_5_TYPES : {}
  const project = await consumer({ ...types, ...installed })
  await cp(source, project.folder, {
    recursive: true,
    filter: (path) => !/[/\\](node_modules|dist|\.data)$/.test(path),
  })
  const running: RunningProcess[] = []
  return {
    ...project,
    async start(script, env = {}) {
      const one = await startScript(project.folder, script, env)
      running.push(one)
      return one
    },
    async dispose() {
      await Promise.all(running.map((one) => one.stop()))
      await project.dispose()
    },
  }
}

/** The folder of `node_modules` that holds a dependency in the version that the recipe asks for. */
async function sourceOf(dependency: string, range: string): Promise<string> {
  const folder = dependency === 'express' && range.startsWith('^4') ? 'express4' : dependency
  const path = join(ROOT, 'node_modules', folder, 'package.json')
  const { version } = JSON.parse(await readFile(path, 'utf8')) as { readonly version: string }
  expect(range, `the range of ${dependency}`).toMatch(new RegExp(`^\\^?${version.split('.')[0]}\\.`))
  return folder
}

/** Starts a script of a project as a process, and waits until it says where it listens. */
export function startScript(
  folder: string,
  script: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningProcess> {
  return startProcess([script], { folder, env: { PORT: '0', ...env }, listens: /Listens on (http:\/\/\S+)/ })
}

/** The code blocks of a document in a language, in order. */
export async function blocksOf(path: string, language: 'sh' | 'js'): Promise<string[]> {
  const text = await readFile(join(ROOT, path), 'utf8')
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, code = '']) => code,
  )
}

/** The packages that a guide installs: names of packages, and paths of packed ones. */
export async function installedBy(guide: string): Promise<string[]> {
  const lines = (await blocksOf(guide, 'sh')).flatMap((block) => block.split('\n'))
  return lines
    .filter((line) => line.startsWith('npm install '))
    .flatMap((line) => line.replace('npm install ', '').split(' '))
}

/** Does in an empty folder what a guide says: its commands to create and install, and its files. Nothing is fetched. */
export async function followGuide(guide: string): Promise<Consumer> {
  const names = (await installedBy(guide)).filter((name) => !name.endsWith('.tgz'))
  const project = await consumer({
    ...Object.fromEntries(names.map((name) => [name, name])),
    '@countersign/service': '@countersign/service',
  })
  const commands = (await blocksOf(guide, 'sh')).flatMap((block) => block.split('\n'))
  const init = commands.map((line) => /npm init.*/.exec(line)?.[0]).find(Boolean) ?? ''
  await run('sh', ['-c', init], { cwd: project.folder })
  for (const code of await blocksOf(guide, 'js')) {
    const [, name] = /^\/\/ (\S+\.m?js)\n/.exec(code) ?? []
    if (!name) throw new Error(`A file of ${guide} does not begin with its name:\n${code}`)
    await project.write(name, code)
  }
  return project
}

/** The key of the inbox of an app that runs in a folder. */
async function inboxKey(folder: string, dataDir: string): Promise<string> {
  return (await readFile(join(folder, dataDir, 'inbox-key'), 'utf8')).trim()
}

/** The address of the inbox of an app that runs in a folder, as the app logs it. */
export async function inboxAddress(folder: string, dataDir: string): Promise<string> {
  return `/mfa/inbox?key=${await inboxKey(folder, dataDir)}`
}

/** The messages in the inbox of an app that runs in a folder, newest first. */
export async function messagesIn(
  browser: TestAgent,
  { folder }: Consumer,
  dataDir = '.data',
): Promise<{ readonly to: string; readonly text: string }[]> {
  const key = await inboxKey(folder, dataDir)
  const asked = browser.get('/mfa/inbox').set('Accept', 'application/json').set('MFA-Inbox-Key', key)
  return (await asked.expect(200)).body.messages
}

/** Has a code sent by email, sees a wrong one refused, and signs in with the one in the inbox. Returns its message. */
export async function showEmailCode(
  browser: TestAgent,
  project: Consumer,
): Promise<{ readonly to: string; readonly text: string } | undefined> {
  await challenge(browser, 'email').type('form').expect(303)
  const [message] = await messagesIn(browser, project)
  const code = codeIn(message?.text)
  const wrong = verify(browser, code === '000000' ? '000001' : '000000').type('form')
  expect((await wrong.redirects(1).expect(200)).text).toContain('You have 4 attempts left.')
  await browser.get('/').expect(303).expect('Location', '/mfa')
  await verify(browser, code).type('form').expect(303).expect('Location', '/')
  return message
}
