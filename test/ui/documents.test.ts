/**
 * The documents on the console's listener: which files are answered, with which headers, and what is said where none
 * are built.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { documentsIn } from '../../src/ui/documents.ts'
import { tempFolder } from '../support/program.ts'
import { consoleOf } from './world.ts'

const folder = tempFolder('documents')
const site = join(folder.path, 'site')
const SCRIPT = 'document.documentElement.classList.add("dark")'
const FILES: Readonly<Record<string, string>> = {
  'site/index.html': `<script>${SCRIPT}</script><script type="module" src="/docs/assets/app.Ab3_-xyz.js"></script>`,
  'site/404.html': 'no such page',
  'site/contract/index.html': 'contract',
  'site/with blank.html': 'blank',
  'site/assets/app.Ab3_-xyz.js': '1',
  'site/assets/style.Ab3d5678.css': 'a{}',
  'site/assets/picture.Ab3d5678.png': 'png',
  'site/hashmap.json': '{}',
  'site/drawing.svg': '<svg/>',
  'site/notes.md': '#',
  'secret.html': 'secret',
}
beforeAll(() => {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true })
    writeFileSync(join(folder.path, name), text)
  }
  symlinkSync(join(folder.path, 'secret.html'), join(site, 'linked.html'))
})
afterAll(folder.remove)

const nobody = async () => new Response(null, { status: 503 })
const app = consoleOf(nobody, null, { documents: documentsIn(site) })
const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  app.fetch(new Request(`http://127.0.0.1${path}`, { method, headers }))

test.each([
  ['/docs/', 'text/html; charset=utf-8'],
  ['/docs/index.html', 'text/html; charset=utf-8'],
  ['/docs/contract/', 'text/html; charset=utf-8'],
  ['/docs/with%20blank.html', 'text/html; charset=utf-8'],
  ['/docs/assets/app.Ab3_-xyz.js', 'text/javascript; charset=utf-8'],
  ['/docs/assets/style.Ab3d5678.css', 'text/css; charset=utf-8'],
  ['/docs/assets/picture.Ab3d5678.png', 'image/png'],
  ['/docs/hashmap.json', 'application/json'],
])('%s is answered as %s', async (path, type) => {
  const answer = await ask(path)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type])
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
})

test.each([
  '/docs/none.html',
  '/docs/linked.html',
  '/docs/..%2fsecret.html',
  '/docs/%2e%2e/secret.html',
  '/docs/contract/..%2f..%2fsecret.html',
  '/docs/..%5csecret.html',
  '/docs//etc/passwd',
  '/docs/%00',
  '/docs/%ff',
])('what is no file of the site is not found: %s', async (path) => {
  const answer = await ask(path)
  expect(answer.status).toBe(404)
  expect(await answer.text()).not.toContain('secret')
})

test('/docs leads to /docs/', async () => {
  const answer = await ask('/docs')
  expect([answer.status, answer.headers.get('location')]).toEqual([302, 'docs/'])
})

test('the content policy allows the scripts that stand in the pages by their hashes, and no others', async () => {
  const policy = (await ask('/docs/')).headers.get('content-security-policy')!
  const hash = createHash('sha256').update(SCRIPT).digest('base64')
  expect(policy).toContain(`script-src 'self' 'sha256-${hash}';`)
  expect(policy).not.toContain('unsafe')
  expect((await ask('/')).headers.get('content-security-policy')).not.toContain('sha256')
})

test('a file with a hash in its name is kept for a year, a page is asked for again', async () => {
  expect((await ask('/docs/assets/style.Ab3d5678.css')).headers.get('cache-control')).toMatch(
    /max-age=31536000.*immutable/,
  )
  expect((await ask('/docs/')).headers.get('cache-control')).toBe('no-cache')
})

test('a page that has not changed is not sent again', async () => {
  const first = await ask('/docs/')
  const etag = first.headers.get('etag')!
  for (const asked of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await ask('/docs/', { 'if-none-match': asked })
    expect([again.status, await again.text(), again.headers.get('etag')], asked).toEqual([304, '', etag])
  }
  expect((await ask('/docs/', { 'if-none-match': '"other"' })).status).toBe(200)
  expect((await ask('/docs/none.html', { 'if-none-match': '*' })).status).toBe(404)
})

test('HEAD is answered without a body', async () => {
  const answer = await ask('/docs/', {}, 'HEAD')
  expect([answer.status, await answer.text()]).toEqual([200, ''])
})

test('a file has its type by its ending, and a mark by its content', async () => {
  const answer = await ask('/docs/assets/style.Ab3d5678.css')
  const digest = createHash('sha256').update('a{}').digest('base64').slice(0, 22)
  expect(Object.fromEntries(answer.headers)).toEqual({
    'content-security-policy': answer.headers.get('content-security-policy'),
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'text/css; charset=utf-8',
    etag: `"${digest}"`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
  })
  const types = ['drawing.svg', 'notes.md'].map(async (name) =>
    (await ask(`/docs/${name}`)).headers.get('content-type'),
  )
  expect(await Promise.all(types)).toEqual(['image/svg+xml', 'application/octet-stream'])
})
test.each([
  ['assets/app.Ab3_-xyz.js', true],
  ['assets/chunks/a.b.Ab3d5678.lean.js', true],
  ['assets/app.Ab3d567.js', false],
  ['assets/app.Ab3d56789.js', false],
  ['other/assets/app.Ab3d5678.js', false],
  ['assets/app.Ab3d5678.js/x', false],
])('%s is kept by a browser: %s', async (name, lasting) => {
  const other = join(folder.path, 'names')
  mkdirSync(dirname(join(other, name)), { recursive: true })
  writeFileSync(join(other, 'index.html'), '')
  writeFileSync(join(other, name), 'x')
  const read = await (await documentsIn(other)())!.get(name)
  rmSync(other, { recursive: true })
  expect([read?.lasting, read?.status]).toEqual([lasting, 200])
})
test('the policy of the documents, to the letter: each script once, and none that is a file', async () => {
  const other = join(folder.path, 'policy')
  mkdirSync(other)
  const html =
    '<script>a()</script><script type="module" src="/x.js"></script><script id="b">a()</script><script></script>'
  writeFileSync(join(other, 'index.html'), html)
  const hash = createHash('sha256').update('a()').digest('base64')
  const answer = await consoleOf(nobody, null, { documents: documentsIn(other) }).request('/docs/')
  expect(answer.headers.get('content-security-policy')!.split('; ')).toEqual([
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ])
})
test('without a page of its own for what is not there, the site says so in a sentence', async () => {
  const bare = join(folder.path, 'bare')
  mkdirSync(bare)
  writeFileSync(join(bare, 'index.html'), '')
  const answer = await consoleOf(nobody, null, { documents: documentsIn(bare) }).request('/docs/none.html')
  expect(answer.status).toBe(404)
  expect(await answer.text()).toMatch(/There is no such page.*href="\.\.\/ui\/"/)
  expect(await (await ask('/docs/none.html')).text()).toBe('no such page')
})

test('where no site is built the answer says how to build it and where the Markdown files are; one that is built later is shown', async () => {
  const later = join(folder.path, 'later')
  const other = consoleOf(nobody, null, { documents: documentsIn(later) })
  const read = async () => {
    const answer = await other.fetch(new Request('http://127.0.0.1/docs/'))
    return { status: answer.status, text: await answer.text() }
  }
  const without = await read()
  expect(without.status).toBe(404)
  expect(without.text).toContain('npm run docs')
  expect(without.text).toContain('docs/README.md')
  mkdirSync(later)
  writeFileSync(join(later, 'index.html'), 'first')
  expect(await read()).toEqual({ status: 200, text: 'first' })
  writeFileSync(join(later, 'index.html'), 'second')
  utimesSync(join(later, 'index.html'), new Date(0), new Date(0))
  expect(await read()).toEqual({ status: 200, text: 'second' })
})

test('the folder is read once for each time that documents were built', async () => {
  const built = join(folder.path, 'built')
  mkdirSync(built)
  writeFileSync(join(built, 'index.html'), '')
  const documents = documentsIn(built)
  const statusOf = async () => (await (await documents())!.get('more.html'))?.status
  expect(await statusOf()).toBeUndefined()
  writeFileSync(join(built, 'more.html'), 'more')
  expect(await statusOf()).toBeUndefined()
  utimesSync(join(built, 'index.html'), new Date(0), new Date(0))
  expect(await statusOf()).toBe(200)
})
test('documents that could not be read, as while they are being built, are read at the next question', async () => {
  const growing = join(folder.path, 'growing')
  mkdirSync(growing)
  for (const name of ['index.html', 'large.html']) writeFileSync(join(growing, name), name)
  // a file that is too large to be read at once; it takes no room on the disk
  truncateSync(join(growing, 'large.html'), 2 ** 31)
  const other = consoleOf(nobody, null, { documents: documentsIn(growing) })
  expect((await other.request('/docs/index.html')).status).toBe(500)
  truncateSync(join(growing, 'large.html'), 0)
  const answer = await other.request('/docs/index.html')
  expect([answer.status, await answer.text()]).toEqual([200, 'index.html'])
})
