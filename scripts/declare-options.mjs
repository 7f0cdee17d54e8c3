import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/*
 * Writes the options of each group into its interface in the declarations. The type of an option is derived from its rule, and its comment
 * stands there; an editor shows the comment of a member only where the member itself is declared.
 */

const FOLDERS = ['dist/types/options', 'dist/types/web/guard']
const DERIVED = /(export interface \w+(?:<[^{]*>)? extends (Given<(\w+)(?:<\w+>)?>) \{\n)((?:.*\n)*?)\}/g
const RULE = /( {4}\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n) {4}readonly (\w+): (.*)/g

const files = FOLDERS.flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))

for (const path of files.filter((name) => name.endsWith('.d.ts'))) {
  const source = readFileSync(path, 'utf8')
  const declared = source.replace(DERIVED, (_all, head, type, rules, own) => {
    const [, body = ''] = new RegExp(`class ${rules}\\b.* \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source) ?? []
    const members = [...body.matchAll(RULE)].map(([, comment, name, rule]) => {
      const optional = /^(?:z|import\("zod"\))\.Zod(?:Default|Prefault|Optional)</.test(rule) ? '?' : ''
      return `${comment}    ${name}${optional}: ${type}['${name}'];\n`
    })
    // A second run finds them there.
    const others = own.includes(`${type}['`) ? own : `${members.join('')}${own}`
    return `${head}${others}}`
  })
  if (declared !== source) writeFileSync(path, declared)
}
