import type { BrowserContext } from 'playwright-core'

const PREFIX = 'refused by the policy: '

/** Says in the console what the Content-Security-Policy of a page refuses. It runs before the page. */
const REPORT = `addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile }) =>
  console.error('${PREFIX}' + effectiveDirective + ' ' + blockedURI + ' ' + sourceFile))`

/** The actions of the pages of a browser that their Content-Security-Policy refuses. The list grows while they are used. */
export async function watchPolicy(context: BrowserContext): Promise<string[]> {
  const refused: string[] = []
  context.on('console', (message) => {
    if (message.text().startsWith(PREFIX)) refused.push(message.text())
  })
  await context.addInitScript(REPORT)
  return refused
}
