import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { environment, SHORT_LIVED } from '../kit/process.js'
import { type Consumer, consumer, ROOT } from '../package/kit.js'
import { blocksOf, startScript } from './kit.js'

const run = promisify(execFile)

/** The commands that a tool runs to check its work, by skill. */
const CHECKS = {
  'add-a-second-factor': ['check-sign-in.mjs'],
  'protect-a-route': ['check-step-up.mjs'],
  'test-a-second-factor': ['--test', '--test-force-exit', 'sign-in.test.mjs'],
} as const

type Skill = keyof typeof CHECKS

const SKILLS = Object.keys(CHECKS) as Skill[]

const pathOf = (skill: string) => `skills/${skill}/SKILL.md`

/** The effect of one wrong line on a file. */
type Mistake = readonly [file: string, line: RegExp, wrong: string]

describe('a skill for tools that write code', () => {
  let project: Consumer

  beforeAll(async () => {
    const names = ['express', 'express-session', 'passport', 'supertest', '@countersign/service']
    project = await consumer(Object.fromEntries(names.map((name) => [name, name])))
  })
  afterAll(() => project?.dispose())
  /** Writes the files of all skills, as a tool would, with a mistake. */
  async function write(mistake?: Mistake): Promise<void> {
    for (const skill of SKILLS) {
      for (const code of await blocksOf(pathOf(skill), 'js')) {
        const [, name = ''] = /^\/\/ (\S+\.mjs)\n/.exec(code) ?? []
        expect(name, `${skill} has a file without a name`).not.toBe('')
        const [file, line, wrong] = mistake ?? []
        const isWrong = name === file && line !== undefined && wrong !== undefined
        if (isWrong) expect(code).toMatch(line)
        await project.write(name, isWrong ? code.replace(line, wrong) : code)
      }
    }
  }

  /** The output of the check of a skill, or its failure. */
  const check = (skill: Skill) =>
    run(process.execPath, [...SHORT_LIVED, ...CHECKS[skill]], {
      cwd: project.folder,
      env: environment({}),
    }).then(
      ({ stdout }) => ({ passes: true, output: stdout }),
      (error: { readonly stdout: string; readonly stderr: string }) => ({
        passes: false,
        output: error.stdout + error.stderr,
      }),
    )

  it('has its folder for its name, and says when to use it', async () => {
    expect((await readdir(join(ROOT, 'skills'))).sort()).toEqual([...SKILLS].sort())
    await everyCase(SKILLS, async (skill) => {
      const text = await readFile(join(ROOT, pathOf(skill)), 'utf8')
      const [, name, description = ''] = /^---\nname: (\S+)\ndescription: (.+)\n---\n/.exec(text) ?? []
      expect(name).toBe(skill)
      expect(description).toContain('countersign')
      expect(description).toContain('Use it ')
      expect(description.length).toBeLessThan(1024)
    })
  })

  it.each(SKILLS)('has a check that passes with its own code: %s', async (skill) => {
    await write()
    const { passes, output } = await check(skill)
    expect(passes, output).toBe(true)
  })

  it.each(['add-a-second-factor', 'test-a-second-factor'] as const)(
    'has a check that passes for a login that takes a form and redirects: %s',
    async (skill) => {
      await write([
        'app.mjs',
        /app\.use\(express\.json\(\)\)/,
        'app.use(express.urlencoded({ extended: false }))',
      ])
      const app = await readFile(join(project.folder, 'app.mjs'), 'utf8')
      await project.write(
        'app.mjs',
        app.replace('res.json({ mfa: req.mfa?.status })', "res.redirect('/account')"),
      )
      const asJson = await check(skill)
      expect(asJson.passes).toBe(false)
      const file = CHECKS[skill].at(-1) ?? ''
      const text = await readFile(join(project.folder, file), 'utf8')
      await project.write(file, text.replace("TYPE = 'json'", "TYPE = 'form'"))
      const { passes, output } = await check(skill)
      expect(passes, output).toBe(true)
    },
  )

  it('starts with the service in the same process', async () => {
    await write()
    const app = await startScript(project.folder, 'server.mjs')
    expect((await fetch(`${app.url}/account`)).status).toBe(401)
    await app.stop()
  })

  const NO_GATE: Mistake = ['app.mjs', /app\.use\(mfa\.router\)/, "app.use('/mfa', mfa.router)"]
  const EARLY_LOGIN: Mistake = [
    'app.mjs',
    / {2}app\.use\(mfa\.router\).*\n([\s\S]*?)(?= {2}app\.get\('\/account')/,
    '$1  app.use(mfa.router)\n',
  ]
  const NO_GUARD: Mistake = ['routes.mjs', /mfa\.requireMfa\(\{ maxAge: '5m' \}\), /, '']
  const LONG_AGE: Mistake = ['routes.mjs', /'5m'/, "'1h'"]
  const NO_STRONGEST: Mistake = ['routes.mjs', /mfa\.requireStrongest\(\), /, '']

  it.each([
    ['add-a-second-factor', 'the gate is missing', NO_GATE],
    ['add-a-second-factor', 'the login comes before the gate', EARLY_LOGIN],
    ['protect-a-route', 'the guard of a payment is missing', NO_GUARD],
    ['protect-a-route', 'the second factor may be an hour old', LONG_AGE],
    ['protect-a-route', 'the guard of a phone number is missing', NO_STRONGEST],
    ['test-a-second-factor', 'the gate is missing', NO_GATE],
    ['test-a-second-factor', 'the login comes before the gate', EARLY_LOGIN],
  ] as const)('has a check that fails: %s, if %s', async (skill, _what, mistake) => {
    await write(mistake)
    expect((await check(skill)).passes).toBe(false)
  })
})
