import type { Page } from 'playwright-core'

/** Boxes whose content sticks out, and the page itself if it has to be scrolled sideways (WCAG 1.4.10). What scrolls by itself does not count. */
export const WIDER_THAN_THEIR_PLACE = `[document.documentElement, ...document.querySelectorAll('main, main :is(ul, ol, li, dl, form, button, a, p, h1, h2, details, .mfa-message), footer')]
  .filter((one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).display !== 'inline' && getComputedStyle(one).overflowX !== 'auto')
  .map((one) => one.outerHTML.slice(0, 80))`

/** The ways on for a user: a link or a form, apart from the switch of languages and what stays on the page. */
const WAYS_ON = `[...document.querySelectorAll('a[href]:not([download], [href^="#"]), form:not(.mfa-languages form, [data-mfa-key])')]
  .filter((one) => one.checkVisibility())`

/** The same in the content of a page with a menu, which every page has. Links to other sites lead away, and a form without a button nowhere. */
const WAYS_ON_IN_CONTENT = `${WAYS_ON}
  .filter((one) => one.closest('main') && !one.closest('nav') && (one.matches('form') ? one.querySelector('button') : one.origin === location.origin))`

/** Links to a part of the page that it does not have. */
const MISSING_FRAGMENTS = `[...document.querySelectorAll('a[href*="#"]')]
  .filter((one) => one.href.split('#')[0] === location.href.split('#')[0] && !document.getElementById(decodeURIComponent(one.hash.slice(1))))
  .map((one) => one.outerHTML)`

/** Choosers with one option: selects, groups of radio buttons, navigations, and lists of factors outside the help that is folded up. */
const CHOICES_OF_ONE = `[...document.querySelectorAll('main > .mfa-choices, select, fieldset:has([type=radio]), nav ul')]
  .filter((one) => (one.matches('.mfa-choices') ? one.children : one.querySelectorAll('option, [type=radio], a')).length < 2)
  .map((one) => one.outerHTML.slice(0, 80))`

/** The fault that `pageFaults` finds of a page from which nothing leads on. */
export const DEAD_END = 'a dead end'

/** The faults of the page that is open: overflowing content, links to parts that it lacks, choices of one, and a dead end. With a menu, only content leads on. */
export function pageFaults(page: Page, { hasMenu = false } = {}): Promise<readonly string[]> {
  return page.evaluate<string[]>(`[
    ...${WIDER_THAN_THEIR_PLACE}.map((one) => 'wide: ' + one),
    ...${MISSING_FRAGMENTS}.map((one) => 'leads nowhere: ' + one),
    ...${CHOICES_OF_ONE}.map((one) => 'one choice: ' + one),
    ...(${hasMenu ? WAYS_ON_IN_CONTENT : WAYS_ON}.length === 0 ? ['${DEAD_END}'] : []),
  ]`)
}
