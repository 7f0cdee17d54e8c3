import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/** What axe objects to on a page as it stands. */
export async function objections(page: Page): Promise<readonly string[]> {
  // There are no frames, for which each look would open a page of its own otherwise.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}
