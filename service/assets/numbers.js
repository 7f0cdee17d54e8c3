/* Draws the table of numbers as charts, and reads the page again from time to time. The page is complete without it. */
;(() => {
  const CHARTS = [
    { name: 'Messages', columns: ['Sent', 'Delivered', 'Failed'] },
    { name: 'Codes', columns: ['Codes', 'Typed', 'Wrong', 'Locked'] },
  ]
  // Lines differ by color and by shape.
  const LOOKS = [
    { color: '--mfa-accent', dash: [], point: 'circle' },
    { color: '--mfa-success', dash: [6, 3], point: 'rect' },
    { color: '--mfa-error', dash: [2, 3], point: 'triangle' },
    { color: '--mfa-muted', dash: [8, 3, 2, 3], point: 'rectRot' },
  ]
  const MINUTE_MS = 60_000
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const section = document.getElementById('numbers')
  if (!section) return
  /** The charts that are drawn. @type {Array<{ update(): void, destroy(): void, data: object, options: object }>} */
  let drawn = []

  const colorOf = (name) => getComputedStyle(document.body).getPropertyValue(name).trim()

  /** The table of the steps: its labels, and the numbers of each column. */
  function numbersIn(root) {
    const [first] = root.querySelectorAll('details table')
    const names = [...first.querySelectorAll('thead th')].map(({ textContent }) => textContent)
    const rows = [...first.querySelectorAll('tbody tr')].map(({ cells }) =>
      [...cells].map(({ textContent }) => textContent),
    )
    return {
      labels: rows.map(([label]) => label),
      valuesOf: (name) => rows.map((cells) => Number(cells[names.indexOf(name)])),
    }
  }

  function draw() {
    for (const chart of drawn) chart.destroy()
    const { labels, valuesOf } = numbersIn(section)
    const place = section.querySelector('[data-charts]')
    place.replaceChildren()
    const text = colorOf('--mfa-muted')
    const grid = { color: colorOf('--mfa-line') }
    drawn = CHARTS.map(({ name, columns }) => {
      const figure = document.createElement('figure')
      const caption = document.createElement('figcaption')
      caption.textContent = name
      const frame = document.createElement('div')
      const canvas = document.createElement('canvas')
      canvas.setAttribute('role', 'img')
      canvas.setAttribute(
        'aria-label',
        `${name} over time: ${columns.join(', ')}. The table below has the numbers.`,
      )
      frame.append(canvas)
      figure.append(caption, frame)
      place.append(figure)
      return new Chart(canvas, {
        type: 'line',
        data: {
          labels,
          datasets: columns.map((column, index) => {
            const { color, dash, point } = LOOKS[index]
            const shade = colorOf(color)
            return {
              label: column,
              data: valuesOf(column),
              borderColor: shade,
              backgroundColor: shade,
              borderDash: dash,
              borderWidth: 2,
              pointStyle: point,
              pointRadius: 3,
              tension: 0,
            }
          }),
        },
        options: {
          animation: false,
          maintainAspectRatio: false,
          interaction: { mode: 'index', intersect: false },
          plugins: { legend: { labels: { color: text, usePointStyle: true, boxHeight: 7 } } },
          scales: {
            x: { ticks: { color: text, maxRotation: 0, autoSkipPadding: 12 }, grid: { display: false } },
            y: { beginAtZero: true, ticks: { color: text, precision: 0 }, grid },
          },
        },
      })
    })
  }

  /** Reads the page again, unless the operator is in the middle of it. Resolves to whether the page could be read. */
  async function refresh() {
    if (document.hidden || section.contains(document.activeElement)) return true
    const response = await fetch(location.href, { headers: { Accept: 'text/html' } }).catch(() => undefined)
    if (!response?.ok) return false
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const fresh = page.getElementById('numbers')
    if (!fresh) return false
    fresh.querySelector('details').open = section.querySelector('details').open
    for (const chart of drawn.splice(0)) chart.destroy()
    localTimes(fresh)
    section.replaceChildren(...fresh.childNodes)
    draw()
    return true
  }

  const bar = document.createElement('p')
  bar.className = 'note live'
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'small-button'
  const state = document.createElement('span')
  bar.append(button, state)
  section.before(bar)

  let timer
  function run(isRunning, failed = false) {
    clearInterval(timer)
    if (isRunning) {
      timer = setInterval(
        async () => {
          if (!(await refresh())) run(false, true)
        },
        Math.min(Number(section.dataset.step) / 10, MINUTE_MS),
      )
    }
    button.textContent = isRunning ? 'Pause updates' : 'Resume updates'
    state.textContent = failed
      ? 'The numbers could not be read again. Reload the page.'
      : isRunning
        ? 'The charts are kept up to date.'
        : 'The charts are not kept up to date.'
    button.onclick = () => run(!isRunning)
  }

  section.querySelector('details').open = false
  draw()
  run(true)
  dark.addEventListener('change', draw)
})()
