import { type Html, html } from '../../telemetry/html.js'
import { attempt } from '../form.js'
import type { PageRequest, PageRoute, Reply } from '../page.js'

const PATH = '/console/filters'

/** Saving and removing an operator's own filters. */
export const FILTER_ROUTES: readonly PageRoute[] = [
  { method: 'post', path: PATH, least: 'viewer', handle: save },
  { method: 'post', path: `${PATH}/remove`, least: 'viewer', handle: remove },
]

async function save({ operator, form }: PageRequest): Promise<Reply> {
  const filter = { name: form.text('name'), path: form.text('path'), query: form.text('query') }
  const message = await attempt(() => operator.saveFilter(filter), '')
  if (message.tone === 'success') return { redirect: `${filter.path}?${filter.query}` }
  return { title: 'Filter', message, status: 422, main: html`<p><a href="/console">Overview</a></p>` }
}

async function remove({ operator, form }: PageRequest): Promise<Reply> {
  await operator.removeFilter(form.text('name'))
  return { redirect: '/console' }
}

/** Links to the operator's filters, of one page or of all, each with a button that removes it on the list of all. */
export async function savedFilters({ operator }: PageRequest, path?: string): Promise<Html | false> {
  const filters = (await operator.listFilters()).filter((filter) => !path || filter.path === path)
  if (filters.length === 0) return false
  return html`<ul class="filters" aria-label="Saved filters">${filters.map(
    ({ name, path: page, query }) =>
      html`<li><a href="${page}?${query}">${name}</a>${
        path === undefined &&
        html`<form method="post" action="${PATH}/remove"><input type="hidden" name="name" value="${name}">
<button class="small-button" aria-label="Remove the filter ${name}">Remove</button></form>`
      }</li>\n`,
  )}</ul>`
}

/** The form that saves what a page filters by; nothing where it filters by nothing. */
export function saveFilterForm(path: string, query: URLSearchParams): Html | false {
  if (query.size === 0) return false
  return html`<form class="form-row" method="post" action="${PATH}"><input type="hidden" name="path" value="${path}">
<input type="hidden" name="query" value="${query.toString()}">
<div class="field"><label for="filter-name">Name of this filter</label><input id="filter-name" name="name" required maxlength="60" autocomplete="off"></div>
<button class="small-button">Save the filter</button></form>`
}
