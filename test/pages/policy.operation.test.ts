import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BROWSERS } from '../kit/browsers.js'
import { watchPolicy } from '../kit/policy.js'
import { codeView, factorOf, manyTongued } from './samples.js'
import { servePage } from './serve-page.js'

// That it refuses nothing of any page is seen where every page is opened.
describe.each(BROWSERS)('the Content-Security-Policy of the pages, in $name', ({ isThere, open }) => {
  describe.skipIf(!isThere)('which the browser applies', () => {
    let context: BrowserContext
    let page: Page
    let refused: string[]
    let site: Awaited<ReturnType<typeof servePage>>

    beforeAll(async () => {
      site = await servePage()
      context = await (await open()).newContext()
      refused = await watchPolicy(context)
      page = await context.newPage()
    })
    afterAll(async () => {
      await context?.browser()?.close()
      await site?.close()
    })

    it.each([
      ['a script in the page', 'script-src', `document.createElement('script'), { text: '1' }`],
      ['a style in the page', 'style-src', `document.createElement('style'), { textContent: 'a {}' }`],
      ['an image of another site', 'img-src', `new Image(), { src: 'https://elsewhere.example/a.png' }`],
    ])('refuses %s, which is seen', async (_, directive, element) => {
      site.show(codeView(factorOf('sms')), manyTongued)
      await page.goto(site.url)
      expect(refused).toEqual([])
      await page.evaluate(`void document.body.append(Object.assign(${element}))`)
      await expect.poll(() => refused.splice(0).join()).toContain(directive)
    })
  })
})
