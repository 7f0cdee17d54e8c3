import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/** What axe objects to on a page as it stands; by these rules alone, when some are named. */
export async function objections(page: Page, ...rules: string[]): Promise<readonly string[]> {
  // A page that was looked at before has axe, whose half a megabyte need not be read again.
  const source = (await page.evaluate('typeof axe')) === 'object' ? { axeSource: ';' } : {}
  // What is in order need not be told, which takes longer than finding it out.
  const axe = new AxeBuilder({ page, ...source }).options({ resultTypes: ['violations'] })
  if (rules.length > 0) axe.withRules(rules)
  // There are no frames, for which each look would open a page of its own otherwise.
  const { violations } = await axe.setLegacyMode().analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}
