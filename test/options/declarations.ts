/** A member of an interface or class, with its doc comment as one line of text. */
export interface Member {
  readonly name: string
  readonly doc: string
  readonly isOptional: boolean
}

/** An exported declaration of a source file. */
export interface Declaration {
  readonly kind: 'interface' | 'type' | 'function' | 'class' | 'const'
  readonly name: string
  readonly doc: string
  /** Of an interface or class only. */
  readonly members: readonly Member[]
}

const DECLARATION = /^export (?:declare |abstract |async )*(interface|type|function|class|const) (\w+)/
const MEMBER = /^ {2}(?:readonly |abstract |override |static |async )*(\w+)(\?)?(?:[(:<]| =)/

/**
 * The exported declarations of a source file. It reads lines, as the formatter leaves them: a declaration begins at the
 * margin, a member two spaces behind it, and a doc comment ends on the line above.
 */
export function declarationsIn(source: string): Declaration[] {
  const lines = source.split('\n')
  return lines.flatMap((line, at) => {
    const [, kind, name = ''] = DECLARATION.exec(line) ?? []
    if (!kind) return []
    const hasMembers = kind === 'interface' || kind === 'class'
    return [
      {
        kind: kind as Declaration['kind'],
        name,
        doc: docAbove(lines, at),
        members: hasMembers ? membersFrom(lines, at) : [],
      },
    ]
  })
}

function membersFrom(lines: readonly string[], start: number): Member[] {
  const length = lines.slice(start).findIndex((line) => line === '}' || /\{\}$/.test(line))
  return lines.slice(start + 1, start + length).flatMap((line, nth) => {
    const [, name = '', optional] = MEMBER.exec(line) ?? []
    if (!name || name === 'constructor') return []
    const isOptional = optional !== undefined || hasDefault(lines.slice(start + 1 + nth, start + length))
    return [{ name, doc: docAbove(lines, start + 1 + nth), isOptional }]
  })
}

/** Whether the rule at these lines says what holds without a value. */
function hasDefault([first = '', ...others]: readonly string[]): boolean {
  const end = others.findIndex((line) => /^ {2}(?:\/\*|\w)/.test(line))
  const rule = [first, ...(end < 0 ? others : others.slice(0, end))].join('\n')
  return / = /.test(first) && /\.(?:default|prefault|optional)\(/.test(rule)
}

/** The doc comment that ends above a line, without its marks. */
function docAbove(lines: readonly string[], at: number): string {
  if (!lines[at - 1]?.trimEnd().endsWith('*/')) return ''
  const start = lines.slice(0, at).findLastIndex((line) => line.trim().startsWith('/**'))
  return lines
    .slice(start, at)
    .map((line) =>
      line
        .trim()
        .replace(/^\/?\*+\/? ?/, '')
        .replace(/ ?\*\/$/, ''),
    )
    .join(' ')
    .trim()
}

/** A name that an entry of the package exports, and the file that declares it. */
export interface Reexport {
  readonly name: string
  readonly file: string
}

/** The files that an entry exports as one name, such as a group of schemas. */
export function groupsIn(source: string): string[] {
  return [...source.matchAll(/^export (?:type )?\* as \w+ from '([^']+)'/gm)].map(([, file = '']) =>
    file.replace(/\.js$/, '.ts'),
  )
}

/** The names that an entry exports, all of which come from other files. */
export function reexportsIn(source: string): Reexport[] {
  return [...source.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)].flatMap(
    ([, names = '', file = '']) =>
      names
        .split(',')
        .map((name) => name.trim().replace(/^type /, ''))
        .filter(Boolean)
        .map((name) => ({ name: name.split(' as ')[0] ?? name, file: file.replace(/\.js$/, '.ts') })),
  )
}
