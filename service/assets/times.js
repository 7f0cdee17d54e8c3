/* Shows times in the zone of the browser, with UTC on hover, and scrolls navigations to the current page. Pages are complete without it. */
;(() => {
  const format = (options) => new Intl.DateTimeFormat('en-CA', { hourCycle: 'h23', ...options })
  const day = format({ year: 'numeric', month: '2-digit', day: '2-digit' })
  const time = format({ hour: '2-digit', minute: '2-digit' })
  const zone = format({ timeZoneName: 'short' })
  const zoneOf = (date) => zone.formatToParts(date).find(({ type }) => type === 'timeZoneName').value

  const SHOWN = {
    minute: (date) => `${day.format(date)} ${time.format(date)} ${zoneOf(date)}`,
    time: (date) => time.format(date),
  }

  /** Shows the times in a part of the page that says how. */
  globalThis.localTimes = (root) => {
    for (const element of root.querySelectorAll('time[data-local]')) {
      const show = SHOWN[element.dataset.local]
      delete element.dataset.local
      element.title = `${element.dateTime.slice(0, 16).replace('T', ' ')} UTC`
      element.textContent = show(new Date(element.dateTime))
    }
    for (const name of root.querySelectorAll('[data-zone]')) {
      name.textContent = zoneOf(new Date())
    }
  }

  globalThis.localTimes(document)
  for (const link of document.querySelectorAll('nav [aria-current]')) {
    const list = link.closest('ul')
    list.scrollLeft = link.offsetLeft - list.offsetLeft - (list.clientWidth - link.offsetWidth) / 2
  }
})()
