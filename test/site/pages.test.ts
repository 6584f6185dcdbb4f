/** The documents as a site: the sidebar is made from the files, and each link has one place that decides on it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { headingOf, linkOf, pagesIn, sidebarOf, slugOf } from '../../infra/site/pages.ts'
import { tempFolder } from '../support/program.ts'

const REAL = join(import.meta.dirname, '../../docs')
const folder = tempFolder('pages')
const docs = join(folder.path, 'docs')
beforeAll(() => {
  for (const page of [
    'README',
    'plan',
    'upgrade',
    'start/first',
    'decisions/0002-b',
    'decisions/0001-a',
    'contract/README',
    'contract/rest-api',
  ]) {
    const path = join(docs, `${page}.md`)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `# About \`${page}\`\n`)
  }
  writeFileSync(join(docs, 'upgrade.md'), '# About `upgrade FILE <UUID>` & more\n')
  mkdirSync(join(docs, 'images'))
  writeFileSync(join(folder.path, 'ARCHITECTURE.md'), '# Map\n')
})
afterAll(folder.remove)

test('the sidebar holds every page below its folder under its first heading, and not the plan', () => {
  const items = (text: string) => sidebarOf(docs).find((group) => group.text === text)?.items
  expect(sidebarOf(docs).map(({ text }) => text)).toEqual(['Documents', 'Start', 'Contract', 'Decisions'])
  expect(items('Documents')).toEqual([
    { text: 'About README', link: '/' },
    { text: 'About upgrade FILE &lt;UUID> &amp; more', link: '/upgrade' },
  ])
  expect(items('Contract')?.map(({ link }) => link)).toEqual(['/contract/', '/contract/rest-api'])
  expect(items('Decisions')?.map(({ link }) => link)).toEqual(['/decisions/0001-a', '/decisions/0002-b'])
})

test('a page without a heading has no name', () => {
  expect(() => headingOf('x.md', 'text\n')).toThrow('x.md has no heading')
})

test.each([
  ['a page stays as it is', 'README.md', 'upgrade.md#now', { href: 'upgrade.md#now' }],
  [
    'a README is the index of its folder',
    'start/first.md',
    '../contract/README.md#x',
    { href: '../contract/index.md#x' },
  ],
  ['a folder leads to its README', 'README.md', 'contract', { href: 'contract/index.md' }],
  ['a folder without a README leads to its first page', 'README.md', 'decisions', { href: 'decisions/0001-a.md' }],
  ['a file outside leads nowhere', 'start/first.md', '../../ARCHITECTURE.md#a', { outside: 'ARCHITECTURE.md' }],
  ['the plan is no page', 'README.md', 'plan.md', { outside: ['docs', 'plan.md'].join('/') }],
  ['a folder without pages leads nowhere', 'README.md', 'images', { outside: 'docs/images' }],
  ['what does not exist is left for the build to complain of', 'README.md', 'gone.md', { href: 'gone.md' }],
  ['outside nothing is looked for', 'README.md', '../src/gone.ts', { outside: 'src/gone.ts' }],
  ['an address', 'README.md', 'https://example.org/x', { href: 'https://example.org/x' }],
  ['a heading of the same page', 'README.md', '#tasks', { href: '#tasks' }],
])('%s', (_, from, href, expected) => expect(linkOf(docs, from, href)).toEqual(expected))

/** The text of each page without its blocks of code. */
const prose = new Map(
  pagesIn(REAL).map((page) => [page, readFileSync(join(REAL, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')]),
)
const LINK = /\[[^\]]*\]\(([^)\s]+)\)/g
const linksOf = (text: string): readonly string[] => [...text.matchAll(LINK)].map(([, href = '']) => href)

test('every link out of the documents leads to a file', () => {
  const outside = [...prose].flatMap(([page, text]) =>
    linksOf(text).flatMap((href) => {
      const link = linkOf(REAL, page, href)
      return 'outside' in link ? [link.outside] : []
    }),
  )
  expect(outside.length).toBeGreaterThan(5)
  expect(outside.filter((path) => !existsSync(join(REAL, '..', path)))).toEqual([])
})

test('anchors are those of GitHub', () => {
  expect(slugOf('What is `ui_listen`? (and why)')).toBe('what-is-ui_listen-and-why')
})

test('every link with an anchor in the documents leads to a heading', () => {
  const anchorsOf = (page: string) =>
    [...(prose.get(page) ?? '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      slugOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')),
    )
  const lost = [...prose].flatMap(([page, text]) =>
    linksOf(text)
      .map((href) => href.split('#') as [string, string?])
      .filter(([path, anchor]) => anchor !== undefined && !/^[a-z]+:/.test(path))
      .map(([path, anchor]) => [path === '' ? page : join(dirname(page), path), anchor] as const)
      .filter(([target, anchor]) => prose.has(target) && !anchorsOf(target).includes(anchor!))
      .map(([target, anchor]) => `${page}: ${target}#${anchor}`),
  )
  expect(lost).toEqual([])
})
