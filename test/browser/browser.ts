/** A real browser in front of a console: Debian's Chromium, driven by playwright-core. */
import { existsSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import axe from 'axe-core'
import { type Browser, type Page, chromium } from 'playwright-core'
import { listen } from '../../src/cli/programs/listen.ts'
import type { Part } from '../support/needs.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser']
export const CHROMIUM_HERE: Part = {
  name: 'Chromium',
  installable: true,
  find: () => {
    const at = CHROMIUM.find((path) => existsSync(path))
    return at === undefined ? { lacking: `none of ${CHROMIUM.join(', ')}` } : { at }
  },
}

/** It asks nobody for anything by itself. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // every other machine is out of reach
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]
export const openBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: QUIET })

type App = Parameters<typeof listen>[0]
export type Served = { readonly base: string; readonly close: () => Promise<void> }
export const serve = async (app: App, port = 0): Promise<Served> => {
  const { port: taken, close } = await listen(app, { host: '127.0.0.1', port })
  return { base: `http://127.0.0.1:${taken}/ui/`, close: () => close(0) }
}

/** A proxy that shows what is behind it under a path of its own, and takes that path away: `/x/y/ui/` is `/ui/`. */
export const under = async (prefix: string, behind: string): Promise<Served> => {
  const { port } = new URL(behind)
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? '/'
    if (!path.startsWith(`${prefix}/`)) return void outgoing.writeHead(404).end()
    const passed = request(
      { port, path: path.slice(prefix.length), method: incoming.method, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      },
    )
    passed.once('error', () => outgoing.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const own = (server.address() as AddressInfo).port
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { base: `http://127.0.0.1:${own}${prefix}/ui/`, close }
}

/** What a page complained about, and what it asked of other machines. */
export const watchedPage = async (browser: Browser, base: string, options: Parameters<Browser['newPage']>[0] = {}) => {
  const page = await browser.newPage(options)
  const complaints: string[] = []
  const foreign: string[] = []
  page.on(
    'console',
    (message) => void (['error', 'warning'].includes(message.type()) && complaints.push(message.text())),
  )
  page.on('pageerror', (error) => void complaints.push(error.message))
  page.on('request', (asked) => void (new URL(asked.url()).host !== new URL(base).host && foreign.push(asked.url())))
  return { page, complaints, foreign }
}

/**
 * What axe cannot judge and people have looked at: contrast where text lies over a line or a bar, and the sign of the
 * buttons that take a filter away.
 */
const KNOWN_DOUBTS = new Set(['color-contrast', 'label-content-name-mismatch'])

type Found = { readonly id: string; readonly nodes: readonly { readonly html: string }[] }
type Judged = { readonly violations: readonly Found[]; readonly incomplete: readonly Found[] }
/**
 * The rules of axe that a page breaks, and those that axe cannot judge and that are not known, with the first place of
 * each. It is brought in by the debugger: the content policy forbids scripts in the page.
 */
export const violationsOf = async (page: Page): Promise<readonly string[]> => {
  await page.evaluate(axe.source)
  const { violations, incomplete } = await page.evaluate<Judged>(
    'axe.run(document, { resultTypes: ["violations", "incomplete"] }).then(({ violations, incomplete }) => ({ violations, incomplete }))',
  )
  const doubts = incomplete.filter(({ id }) => !KNOWN_DOUBTS.has(id))
  return [...violations, ...doubts].map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`)
}
