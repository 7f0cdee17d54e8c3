import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe objects to on a page as it stands; by these rules alone, when some are named. */
export async function objections(page: Page, ...rules: string[]): Promise<readonly string[]> {
  // A page that was looked at before has axe, whose half a megabyte need not be read again.
  if ((await page.evaluate('typeof axe')) !== 'object') await page.evaluate(axe.source)
  // The nodes that pass take longer to describe than to check.
  const options = {
    resultTypes: ['violations'],
    ...(rules.length > 0 && { runOnly: { type: 'rule', values: rules } }),
  }
  return page.evaluate(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}
