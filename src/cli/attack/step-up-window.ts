import { attribute } from '../../probe/app-request.js'
import type { Scene } from './scene.js'
import { reportBroken, reportHeld, type Verdict } from './verdict.js'

/** A call that opens a window under a name of its own: not `_blank`, and not a method of another object. */
const NAMED_WINDOW =
  /(?<![\w$.])(?:(?:window|self|globalThis)\.)?open\(\s*(?:[^()]|\([^()]*\))*?,\s*(["'`])(?!_)([\w-]+)\1/

/** Reads the scripts of the protected pages for a window under a fixed name, which a page of another site may have opened before. */
export async function stepUpWindow({ check, get, signedIn }: Scene): Promise<Verdict> {
  const { agent } = await signedIn()
  const read = new Set<string>()
  for (const path of check.protectedPaths) {
    const { text } = await get(agent, path)
    const scripts = [...text.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/gi)]
    for (const [, tag = '', inline = ''] of scripts) {
      const found = findWindowName(inline)
      if (found) return reportBroken(`${path} opens the window "${found}"`)
      const source = attribute(tag, 'src')
      if (source !== undefined) read.add(new URL(source, new URL(path, check.url)).href)
    }
  }
  for (const address of read) {
    const { origin, pathname, search } = new URL(address)
    if (origin !== check.url.origin) continue
    const { text } = await get(agent, `${pathname}${search}`, { Accept: '*/*' })
    const found = findWindowName(text)
    if (found) return reportBroken(`${pathname} opens the window "${found}"`)
    for (const [, , module = ''] of text.matchAll(/\b(?:from|import)\s*\(?\s*(["'])(\.{0,2}\/[^"']+)\1/g)) {
      read.add(new URL(module, address).href)
    }
  }
  return reportHeld(`${read.size} scripts`)
}

function findWindowName(script: string): string | undefined {
  return NAMED_WINDOW.exec(script)?.[2]
}
