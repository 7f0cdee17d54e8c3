import type { Problem } from '../http/problem.js'
import { html } from './html.js'
import { type Frame, layout, type Viewer } from './layout.js'

/** The page for a problem. */
export function problemPage(problem: Problem, viewer: Viewer | undefined, frame: Frame): string {
  return layout({
    title: problem.title,
    viewer,
    frame,
    body: html`<section class="narrow card problem">
  <p class="eyebrow">${problem.status}</p>
  <h1>${problem.title}</h1>
  <p>${problem.detail}</p>
  ${problem.status === 503 && html`<p><a class="button" href="">Try again</a></p>`}
  <p><a${problem.status !== 503 && html` class="button"`} href="/">Back to the home page</a></p>
</section>`,
  })
}
