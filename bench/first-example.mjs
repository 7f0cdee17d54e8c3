/*
 * Does what the README says, from an empty folder to the QR code in a browser, and prints how long each step takes:
 *
 * usage: node bench/first-example.mjs
 *
 * Packs this copy of the repository first, which is not counted: once the packages are published, nobody needs to. The
 * packages are installed from the registry, so the time depends on it and on npm's cache.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { freePort } from './kit/free-port.mjs'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../', import.meta.url))
const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
const [, commands] = /```sh\n(\(cd [\s\S]*?)```/.exec(readme)
const [, file, code] = /```js\n\/\/ (\S+)\n([\s\S]*?)```/.exec(readme)
const installs = commands.split('\n').filter((line) => line.startsWith('npm install '))

const folder = await mkdtemp(join(tmpdir(), 'countersign-first-'))
const shop = join(folder, 'shop')
await run('npm', ['run', 'pack', '--', '--out', folder], { cwd: ROOT })

let last = performance.now()
const first = last
const step = (name) => {
  const now = performance.now()
  console.log(`${name}: ${((now - last) / 1_000).toFixed(1)} s`)
  last = now
}

const sh = (line, cwd) => run('sh', ['-c', line.replaceAll('../countersign/', '../')], { cwd })
await sh('mkdir shop && cd shop && npm init -y', folder)
for (const line of installs) await sh(line, shop)
step('installing')

await writeFile(join(shop, file), code)
const port = await freePort()
const app = spawn(process.execPath, [file], {
  cwd: shop,
  env: { ...process.env, PORT: port },
  stdio: 'ignore',
})
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox'],
})
try {
  const page = await (await browser.newContext()).newPage()
  const url = `http://localhost:${port}`
  while (!(await page.goto(url).catch(() => undefined)))
    await new Promise((resolve) => setTimeout(resolve, 50))
  step('the first page')
  const setUp = page.getByRole('button', { name: 'Set up an app' })
  // On a slow machine the service may still be starting, and the sign-in is refused for a moment.
  for (let isIn = false; !isIn; ) {
    await page.goto(url)
    await page.getByRole('button', { name: 'Sign in as bob' }).click()
    isIn = await setUp.waitFor({ timeout: 5_000 }).then(
      () => true,
      () => false,
    )
  }
  await setUp.click()
  await page.getByRole('img', { name: /QR code/ }).waitFor()
  step('the QR code')
  console.log(`from the empty folder to the QR code: ${((last - first) / 1_000).toFixed(1)} s`)
} finally {
  await browser.close()
  app.kill()
  await rm(folder, { recursive: true })
}
