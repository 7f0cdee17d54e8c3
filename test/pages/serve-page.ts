import { createServer } from 'node:http'
import { type AssetName, assets } from '../../src/pages/layout.js'
import { renderView } from '../../src/pages/render.js'
import type { Languages } from '../../src/pages/text.js'
import type { PageFrame, View } from '../../src/pages/view.js'
import { listenOnLoopback } from '../kit/loopback.js'

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Serves one page under the strict policy, writes down what its forms post, and answers what its script asks. */
export async function servePage() {
  let shown: { view: View; frame: PageFrame; languages?: Languages | undefined } | undefined
  let state: () => { status: number; body: object } = () => ({ status: 404, body: {} })
  let sheet = ''
  const asked: string[] = []
  const posts: { readonly path: string; readonly body: string }[] = []
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (request.method === 'POST') {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      posts.push({ path: pathname, body })
      return void response.writeHead(204).end() // the browser stays where it is
    }
    if (request.headers.accept === 'application/json') {
      asked.push(pathname)
      const { status, body } = state()
      return void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (pathname === '/brand.css')
      return void response.writeHead(200, { 'content-type': 'text/css' }).end(sheet)
    const asset = assets[pathname.slice(pathname.lastIndexOf('/') + 1) as AssetName]
    if (asset !== undefined)
      return void response.writeHead(200, { 'content-type': asset.type }).end(asset.body)
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY }
    response.writeHead(200, headers).end(shown && renderView(shown.view, shown.frame, shown.languages))
  })
  const port = await listenOnLoopback(server)
  return {
    url: `http://127.0.0.1:${port}/mfa/page`,
    posts,
    /** The host's own style sheet at /brand.css. */
    brand(css: string) {
      sheet = css
    },
    /** The paths that the script has asked for in JSON. */
    asked,
    show(view: View, frame: PageFrame, languages?: Languages) {
      shown = { view, frame, languages }
      posts.length = 0
      asked.length = 0
    },
    /** The answer to the script from now on. */
    tell(body: object, status = 200) {
      state = () => ({ status, body })
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
