/** Boxes whose content sticks out, and the page itself if it has to be scrolled sideways (WCAG 1.4.10). What scrolls by itself does not count. */
export const WIDER_THAN_THEIR_PLACE = `[document.documentElement, ...document.querySelectorAll('main, main :is(ul, ol, li, dl, form, button, a, p, h1, h2, details, .mfa-message), footer')]
  .filter((one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).display !== 'inline' && getComputedStyle(one).overflowX !== 'auto')
  .map((one) => one.outerHTML.slice(0, 80))`

/** What leads a user on: a link or a form, apart from the switch of languages and what stays on the page. */
export const WAYS_ON = `[...document.querySelectorAll('a[href]:not([download], [href^="#"]), form:not(.mfa-languages form, [data-mfa-key])')]
  .filter((one) => one.checkVisibility())
  .map((one) => one.outerHTML.slice(0, 80))`

/** Links to a part of the page that it does not have. */
export const MISSING_FRAGMENTS = `[...document.querySelectorAll('a[href*="#"]')]
  .filter((one) => one.href.split('#')[0] === location.href.split('#')[0] && !document.getElementById(decodeURIComponent(one.hash.slice(1))))
  .map((one) => one.outerHTML)`

/** Lists of options with one entry, outside the help that is folded up. */
export const CHOICES_OF_ONE = `[...document.querySelectorAll('main > .mfa-choices')]
  .filter((one) => one.children.length < 2)
  .map((one) => one.outerHTML)`
