#!/usr/bin/env node
/*
 * Checks that subjects of commits are Conventional Commits, as CONTRIBUTING.md describes them: those after the commit that added
 * this file, or the one in the message file that the hook `commit-msg` passes. Merges, reverts and fixups are excepted.
 *
 * usage: node scripts/check-commits.mjs [message-file]
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const TYPES = ['feat', 'fix', 'perf', 'refactor', 'docs', 'test', 'build', 'ci', 'chore', 'style', 'revert']
const MAX_LENGTH = 72
const EXCEPTED = /^(?:Merge |Revert |fixup! |squash! )/
/** Verbs that do not name a change. */
const VAGUE = ['say', 'let', 'hold', 'tell', 'make']

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 }).trim()

/** The scopes: the names of the folders, and `deps` for dependencies. */
const scopes = new Set([
  'deps',
  ...git('ls-files')
    .split('\n')
    .flatMap((path) => path.split('/').slice(0, -1)),
])

/** What is wrong with a subject. */
function faultsOf(subject) {
  const [, type, scope, text] = /^([a-z]+)(?:\(([^)]+)\))?!?: (.+)$/.exec(subject) ?? []
  if (!text) return ['expected "type(scope): verb …", such as "fix(guard): refuse a factor of another user"']
  const verb = text.split(' ', 1)[0]
  return [
    !TYPES.includes(type) && `the type "${type}" is none of ${TYPES.join(', ')}`,
    scope && !scopes.has(scope) && `the scope "${scope}" is no folder of the tree`,
    subject.length > MAX_LENGTH && `${subject.length} characters, where ${MAX_LENGTH} are allowed`,
    !/^[a-z][a-z-]+$/.test(verb) && `"${verb}" is no verb in small letters`,
    /^(?!bring$|embed$|focus$).*(?:ing|[^se]ed|[^s]s)$/.test(verb) &&
      `"${verb}" is no imperative: write "add", not "added" or "adds"`,
    VAGUE.includes(verb) && `"${verb}" does not name the change`,
    / again$/.test(text) && 'ends in "again"',
  ].filter(Boolean)
}

/** The subjects of the commits after the one that added this file, newest first. */
function subjectsToCheck() {
  const added = git('log', '--diff-filter=A', '--format=%H', '--', 'scripts/check-commits.mjs')
    .split('\n')
    .at(-1)
  if (git('rev-parse', '--is-shallow-repository') === 'true')
    console.log(
      'This clone is shallow: commits that it does not have are not checked. Fetch them with git fetch --unshallow.',
    )
  const listed = added ? git('log', '--no-merges', '--format=%s', `${added}..HEAD`) : ''
  return listed.split('\n').filter(Boolean)
}

const [file] = process.argv.slice(2)
const subjects = file ? [readFileSync(file, 'utf8').split('\n', 1)[0]] : subjectsToCheck()
const wrong = subjects
  .filter((subject) => !EXCEPTED.test(subject))
  .flatMap((subject) => faultsOf(subject).map((fault) => `${subject}\n  ${fault}`))
if (wrong.length > 0) {
  console.error(wrong.join('\n'))
  process.exitCode = 1
}
