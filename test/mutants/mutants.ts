import { parseAst } from 'rolldown/parseAst'
import { sqlChanges } from './sql.js'

/** One change of a source that some test must notice. */
export interface Mutant {
  /** The function it is in and the change, unique in its file: `readRecord: typeof text !== 'string' → false`. */
  readonly name: string
  readonly line: number
  /** Whether it is outside of all functions, so that it takes effect where the file is loaded. */
  readonly loaded: boolean
  /** The part of the source that is replaced while it is active, and what replaces it. */
  readonly start: number
  readonly end: number
  readonly text: string
  readonly kind: 'expression' | 'statement'
  /** Whether it only replaces a yes or no without waiting for anything: where both say the same, no test can notice it. */
  readonly compares?: boolean
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string'
const nodeIn = (node: Node, member: string) => {
  const child = node[member]
  return isNode(child) ? child : undefined
}
const nodesIn = (node: Node, member: string) => {
  const children = node[member]
  return Array.isArray(children) ? children.filter(isNode) : []
}

/** Methods and functions that answer yes or no. */
const QUESTIONS =
  /^(?:some|every|includes|has|startsWith|endsWith|test|isArray|Boolean|(?:is|has|can|may)[A-Z]\w*)$/
const COMPARISONS = ['===', '!==', '<', '<=', '>', '>=', 'in', 'instanceof']
/** The same comparison without or with what is equal. */
const OPERATORS = new Map(Object.entries({ '<': '<=', '<=': '<', '>': '>=', '>=': '>' }))
/** Calls that make no sense with an argument fewer. */
const COMPLETE = /^(?:Reflect|Object|Math|JSON|z)\.|\bquery(?:One)?$|^isDeepStrictEqual$/
/** Arguments that are the same as none. */
const ABSENT = /^(?:false|undefined)$/
const TIME = /now|Ms\b|At\b|Until|until|expires|time|Time|_at\b/
const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']
/** Types, which are gone when the code runs, except for the expressions in these. */
const TYPED = ['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']

const isLogical = (node: Node | undefined) =>
  node?.type === 'LogicalExpression' && (node.operator === '&&' || node.operator === '||')

/** The mutants of a source, in the order of their places. */
export function mutantsOf(source: string): Mutant[] {
  const found: Omit<Mutant, 'name'>[] = []
  const labels: string[] = []
  const only = new Set<Node>()
  const lineStarts = [0]
  for (const { index } of source.matchAll(/\n/g)) lineStarts.push(index + 1)
  const textOf = ({ start, end }: Pick<Node, 'start' | 'end'>) => source.slice(start, end)
  const short = (text: string) => text.replace(/\s+/g, ' ')

  /** Where the walk is: the function, and the outermost optional chain, which can only be replaced as a whole. */
  interface Place {
    readonly within: string
    readonly chain?: Node
    readonly depth: number
    readonly isSpread?: boolean
  }

  function add(
    { within, chain, depth }: Place,
    node: Node,
    text: string,
    change = `${short(textOf(node))} → ${short(text)}`,
  ): void {
    const host = chain && chain.start <= node.start && chain.end >= node.end ? chain : node
    const whole = source.slice(host.start, node.start) + text + source.slice(node.end, host.end)
    const isValue = /^(?:true|false)$/.test(whole)
    const isBound = host === node && node.type === 'BinaryExpression' && text !== `!(${textOf(node)})`
    found.push({
      ...{ line: lineStarts.findLastIndex((at) => at <= node.start) + 1, loaded: depth === 0 },
      ...{ start: host.start, end: host.end, text: whole, kind: 'expression' },
      compares: (isValue || isBound) && !/\bawait\b/.test(textOf(node)),
    })
    labels.push(`${within}: ${change}`)
  }

  function drop({ within, depth }: Place, node: Node): void {
    const line = lineStarts.findLastIndex((at) => at <= node.start) + 1
    found.push({ line, loaded: depth === 0, start: node.start, end: node.end, text: '', kind: 'statement' })
    labels.push(`${within}: ${short(textOf(node))} → nothing`)
  }

  /**
   * A condition: each operand of `&&` is taken as true and each of `||` as false, so that it does not count. Of the others, one that
   * guards against something is taken as false, and the rest are negated.
   */
  function condition(place: Place, node: Node | undefined, change: 'true' | 'false' | 'negate'): void {
    if (!node) return
    if (isLogical(node)) {
      const without = node.operator === '&&' ? 'true' : 'false'
      if (change === (without === 'true' ? 'false' : 'true')) add(place, node, change)
      condition(place, nodeIn(node, 'left'), without)
      return condition(place, nodeIn(node, 'right'), without)
    }
    if (node.type === 'Literal') return walk(place, node)
    // Beside another operand, this is for the compiler.
    if (change === 'true' && /!== undefined$/.test(textOf(node))) return children(place, node)
    const negated =
      node.type === 'UnaryExpression' && node.operator === '!' ? nodeIn(node, 'argument') : undefined
    if (isLogical(negated)) {
      return condition(place, negated, change === 'negate' ? change : change === 'true' ? 'false' : 'true')
    }
    add(place, node, change !== 'negate' ? change : negated ? textOf(negated) : `!(${textOf(node)})`)
    inside(place, negated ?? node)
  }

  /** The parts of a node that was changed as a whole. */
  function inside(place: Place, node: Node): void {
    if (node.type === 'BinaryExpression') operator(place, node)
    if (node.type === 'CallExpression') call(place, node)
    const at = node.type === 'ChainExpression' && !place.chain ? { ...place, chain: node } : place
    const expression = node.type === 'ChainExpression' ? nodeIn(node, 'expression') : undefined
    if (expression) return inside(at, expression)
    children(at, node)
  }

  function operator(place: Place, node: Node): void {
    const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')]
    const other = OPERATORS.get(String(node.operator))
    if (!other || !left || !right) return
    // Behaviour in the very millisecond is promised for times, not for lengths and counts.
    if (!TIME.test(textOf(node))) return
    const between = source.slice(left.end, right.start).replace(String(node.operator), other)
    add(place, node, source.slice(node.start, left.end) + between + source.slice(right.start, node.end))
  }

  const isQuestion = (node: Node) => {
    if (node.type === 'BinaryExpression') return COMPARISONS.includes(String(node.operator))
    if (node.type === 'UnaryExpression') return node.operator === '!'
    return node.type === 'CallExpression' && QUESTIONS.test(calledName(node))
  }

  /** The name of the function or method that is called. */
  function calledName(node: Node): string {
    const callee = nodeIn(node, 'callee')
    const named = callee?.type === 'MemberExpression' ? nodeIn(callee, 'property') : callee
    return typeof named?.name === 'string' ? named.name : ''
  }

  function call(place: Place, node: Node): void {
    const callee = nodeIn(node, 'callee')
    const args = nodesIn(node, 'arguments')
    const [last, before] = [args.at(-1), args.at(-2)]
    const isOptional =
      last &&
      !FUNCTIONS.includes(last.type) &&
      !ABSENT.test(textOf(last)) &&
      !COMPLETE.test(textOf(callee ?? node))
    if (last && before && isOptional) {
      const without =
        source.slice(node.start, before.end) + source.slice(last.end, node.end).replace(/^\s*,/, '')
      add(place, node, without, `${calledName(node)}(… ${short(textOf(last))}) → ${calledName(node)}(…)`)
    }
  }

  function walk(outer: Place, node: Node): void {
    let place = outer
    if (node.type.startsWith('TS')) {
      const inner = TYPED.includes(node.type) ? nodeIn(node, 'expression') : undefined
      if (inner) walk(place, inner)
      return
    }
    if (FUNCTIONS.includes(node.type)) {
      const name = nodeIn(node, 'id')?.name
      place = { within: typeof name === 'string' ? name : place.within, depth: place.depth + 1 }
    }
    if (node.type === 'ChainExpression' && !place.chain) place = { ...place, chain: node }
    if (node.type === 'SpreadElement') place = { ...place, isSpread: true }
    else if (place.isSpread && node.type !== 'LogicalExpression') place = { ...place, isSpread: false }
    switch (node.type) {
      case 'ImportDeclaration':
        return
      case 'VariableDeclarator':
      case 'Property':
      case 'MethodDefinition': {
        const name = nodeIn(node, node.type === 'VariableDeclarator' ? 'id' : 'key')
        const value = nodeIn(node, node.type === 'VariableDeclarator' ? 'init' : 'value')
        if (name && value && FUNCTIONS.includes(value.type)) place = { ...place, within: short(textOf(name)) }
        if (name && place.depth === 0) place = { ...place, within: short(textOf(name)) }
        break
      }
      case 'IfStatement': {
        // A condition that is false leaves out its only statement.
        const then = nodeIn(node, 'consequent')
        const statements = then?.type === 'BlockStatement' ? nodesIn(then, 'body') : [then]
        if (!nodeIn(node, 'alternate') && statements.length === 1 && statements[0]) only.add(statements[0])
        const last = statements.at(-1)?.type ?? ''
        const isGuard = !nodeIn(node, 'alternate') && ['ReturnStatement', 'ThrowStatement'].includes(last)
        // A guard that always holds ends the function for every test that runs it.
        condition(place, nodeIn(node, 'test'), isGuard ? 'false' : 'negate')
        return children(place, node, 'test')
      }
      case 'ConditionalExpression':
        condition(place, nodeIn(node, 'test'), 'negate')
        return children(place, node, 'test')
      case 'WhileStatement':
      case 'ForStatement':
        // One that is always true would never end.
        condition(place, nodeIn(node, 'test'), 'false')
        return children(place, node, 'test')
      case 'LogicalExpression': {
        const [left, right] = [nodeIn(node, 'left'), nodeIn(node, 'right')]
        if (!left || !right) return
        if (node.operator === '??') return children(place, node)
        if (isLogical(right) || isQuestion(right)) return condition(place, node, 'negate')
        // `...(value && { value })` without the condition adds a property that is undefined.
        condition(place, left, place.isSpread ? 'false' : node.operator === '&&' ? 'true' : 'false')
        return walk(place, right)
      }
      case 'Literal':
        if (typeof node.value === 'boolean') add(place, node, String(!node.value))
        else sql(place, node)
        return
      case 'TemplateLiteral':
        sql(place, node)
        break
      case 'ExpressionStatement':
        if ((node.directive === undefined || node.directive === null) && !only.has(node)) drop(place, node)
        break
      case 'ThrowStatement':
        if (!only.has(node)) drop(place, node)
        break
      case 'NewExpression':
        call(place, node)
        break
    }
    if (isQuestion(node)) condition(place, node, 'negate')
    else inside(place, node)
  }

  function sql(place: Place, node: Node): void {
    for (const { from, to, text, change } of sqlChanges(textOf(node))) {
      add(place, node, textOf(node).slice(0, from) + text + textOf(node).slice(to), short(change))
    }
  }

  function children(place: Place, node: Node, except?: string): void {
    for (const [member, child] of Object.entries(node)) {
      if (member === except || member === 'typeAnnotation' || member === 'returnType') continue
      for (const one of Array.isArray(child) ? child : [child]) if (isNode(one)) walk(place, one)
    }
  }

  const program: unknown = parseAst(source, { lang: 'ts' })
  if (isNode(program)) children({ within: '', depth: 0 }, program)

  const times = new Map<string, number>()
  return found
    .map((mutant, at) => ({ ...mutant, label: labels[at] ?? '' }))
    .sort((one, other) => one.line - other.line)
    .map(({ label, ...mutant }) => {
      const time = (times.get(label) ?? 0) + 1
      times.set(label, time)
      return { ...mutant, name: time === 1 ? label : `${label} (${time})` }
    })
}

/**
 * The source with all its mutants, each of which is active while the global function `mutant` says so of its place in the list.
 * `mutantCompared` is handed what the code says by itself, and places and answers of the mutants that compare with it.
 */
export function withMutants(source: string, mutants: readonly Mutant[]): string {
  // The widest first, so that what is inside of another is written into it.
  const indexed = mutants.map((mutant, index) => ({ ...mutant, index }))
  const spans = new Map<string, typeof indexed>()
  for (const one of indexed) {
    const key = `${one.start} ${one.end} ${one.kind}`
    spans.set(key, [...(spans.get(key) ?? []), one])
  }
  // A statement that is one expression is wrapped around it.
  const groups = [...spans.values()].sort(
    ([one], [other]) =>
      span(other) - span(one) || Number(other?.kind === 'statement') - Number(one?.kind === 'statement'),
  )
  return write(0, source.length, groups)

  function write(start: number, end: number, inside: typeof groups): string {
    let out = ''
    let at = start
    const left = [...inside].sort(([one], [other]) => (one?.start ?? 0) - (other?.start ?? 0))
    while (left.length > 0) {
      const group = left.shift()
      const first = group?.[0]
      if (!group || !first) break
      const within = left.filter(([one]) => one && one.start >= first.start && one.end <= first.end)
      for (const one of within) left.splice(left.indexOf(one), 1)
      const original = write(first.start, first.end, within)
      out += source.slice(at, first.start)
      if (first.kind === 'statement') out += `{if (!globalThis.mutant(${first.index})) {${original}}}`
      else {
        const compared = group.filter(({ compares }) => compares)
        const pairs = compared.map(({ index, text }) => `, ${index}, () => (${text})`).join('')
        const value = pairs ? `globalThis.mutantCompared((${original})${pairs})` : `(${original})`
        out += `(${group.map(({ index, text }) => `globalThis.mutant(${index}) ? (${text}) : `).join('')}${value})`
      }
      at = first.end
    }
    return out + source.slice(at, end)
  }
}

const span = (mutant: Mutant | undefined) => (mutant ? mutant.end - mutant.start : 0)
