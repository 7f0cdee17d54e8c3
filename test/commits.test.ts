import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { everyCase } from './kit/every-case.js'

const SCRIPT = fileURLToPath(new URL('../scripts/check-commits.mjs', import.meta.url))

/** A new folder of this machine, which no test shares. */
const newFolder = () => mkdtempSync(join(tmpdir(), 'countersign-commits-'))

/** Runs the check in a folder, for its commits or for one message. */
function check(folder: string, ...messageFile: string[]) {
  const script = join(folder, 'scripts/check-commits.mjs')
  const { status, stdout, stderr } = spawnSync('node', [script, ...messageFile], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

/** A repository whose first commit is not a Conventional Commit, and whose second one adds the check. */
function newRepository() {
  const folder = newFolder()
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], {
      cwd: folder,
    })
  const commit = (subject: string) => git('commit', '--quiet', '--allow-empty', '--message', subject)
  git('init', '--quiet')
  mkdirSync(join(folder, 'guard'))
  writeFileSync(join(folder, 'guard/rule.ts'), '')
  git('add', '.')
  commit('Say what was before')
  mkdirSync(join(folder, 'scripts'))
  cpSync(SCRIPT, join(folder, 'scripts/check-commits.mjs'))
  git('add', '.')
  commit('ci: check the subjects of commits')
  return { folder, commit }
}

describe('the check of commits', () => {
  const { folder } = newRepository()
  const checkSubject = (subject: string) => {
    writeFileSync(join(folder, 'message'), `${subject}\n\nWhy.\n`)
    return check(folder, 'message')
  }

  it('accepts a type, a folder as scope, and an imperative verb', () =>
    everyCase(
      [
        'fix(guard): refuse a factor of another user',
        'feat!: rename the option',
        'build(deps): embed the icon',
        'refactor(guard): process the rule once',
        'Merge branch "guard"',
        'Revert "fix(guard): refuse a factor of another user"',
      ],
      (subject) => expect(checkSubject(subject)).toEqual({ status: 0, output: '' }),
    ))

  it('refuses any other subject and names what is wrong', () =>
    everyCase(
      [
        ['Change the session id', 'expected "type(scope): verb'],
        ['feature(guard): add a rule', 'the type "feature"'],
        ['fix(guards): add a rule', 'the scope "guards" is no folder'],
        ['fix(guard): adds a rule', 'no imperative'],
        ['fix(guard): added a rule', 'no imperative'],
        ['fix(guard): Add a rule', 'no verb in small letters'],
        ['fix(guard): let a rule be added', '"let" does not name the change'],
        ['fix(guard): add the rule again', 'ends in "again"'],
        [`fix(guard): add ${'a'.repeat(60)}`, '76 characters, where 72 are allowed'],
      ] as const,
      ([subject, fault]) => {
        const { status, output } = checkSubject(subject)
        expect(status).toBe(1)
        expect(output).toContain(fault)
      },
    ))

  it('looks at the commits after the one that added it, and at no earlier one', () => {
    const repository = newRepository()
    repository.commit('fix(guard): refuse a factor of another user')
    expect(check(repository.folder)).toEqual({ status: 0, output: '' })
    repository.commit('Let the guard be')
    const { status, output } = check(repository.folder)
    expect(status).toBe(1)
    expect(output).toContain('Let the guard be')
    expect(output).not.toContain('Say what was before')
  })

  it('passes in a shallow clone, and says which commits it could not see', () => {
    const { folder: origin } = newRepository()
    const clone = newFolder()
    execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${origin}`, clone])
    const { status, output } = check(clone)
    expect(status).toBe(0)
    expect(output).toContain('This clone is shallow: commits that it does not have are not checked.')
  })
})
