import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** The violations that axe finds on a page, of the given rules or of all. */
export async function axeViolations(page: Page, ...rules: string[]): Promise<readonly string[]> {
  // A page that was checked before has axe already; loading its half a megabyte again is slow.
  if ((await page.evaluate('typeof axe')) !== 'object') await page.evaluate(axe.source)
  // Describing the nodes that pass takes longer than checking them.
  const options = {
    resultTypes: ['violations'],
    ...(rules.length > 0 && { runOnly: { type: 'rule', values: rules } }),
  }
  return page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}
