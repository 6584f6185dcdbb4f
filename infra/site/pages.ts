/** The pages of docs/ as a site: the sidebar from the tree and the first headings, and what becomes of each link. */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

export type Item = { readonly text: string; readonly link: string }
export type Group = { readonly text: string; readonly collapsed: boolean; readonly items: readonly Item[] }

/** Notes of those who write the program. */
const OMITTED = /^plan\.md$/
/** What a reader needs first comes first; folders that are not named here follow by name. */
const FOLDERS = ['', 'start', 'operators', 'reference', 'developers', 'contract', 'decisions']
const NAMES: Readonly<Record<string, string>> = { '': 'Documents', operators: 'Tasks' }

const folderOf = (page: string): string => (page.includes('/') ? dirname(page) : '')
const named = (folder: string): string => NAMES[folder] ?? folder.charAt(0).toUpperCase() + folder.slice(1)
const placeOf = (folder: string): number => (FOLDERS.indexOf(folder) + FOLDERS.length + 1) % (FOLDERS.length + 1)

/** The README of a folder is its first page: on the site it is the index. */
export const addressed = (page: string): string => page.replace(/(^|\/)README\.md$/, '$1index.md')

/** Paths below `docs`, the README of a folder first. */
export const pagesIn = (docs: string): readonly string[] =>
  readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path.endsWith('.md') && !OMITTED.test(path))
    .toSorted((a, b) => Number(b.endsWith('README.md')) - Number(a.endsWith('README.md')) || a.localeCompare(b, 'en'))

/** Throws for a page without a heading: it would stand in the sidebar without a name. */
export const headingOf = (page: string, text: string): string => {
  const heading = /^# (.+)$/m.exec(text)?.[1]
  if (heading === undefined) throw new Error(`docs/${page} has no heading`)
  return heading.replaceAll('`', '')
}

/** VitePress takes the texts of its sidebar for HTML. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

export const sidebarOf = (docs: string): readonly Group[] => {
  const groups = Map.groupBy(pagesIn(docs), folderOf)
  return [...groups]
    .toSorted(([a], [b]) => placeOf(a) - placeOf(b) || a.localeCompare(b, 'en'))
    .map(([folder, pages]) => ({
      text: named(folder),
      collapsed: folder === 'decisions' || folder === 'contract',
      items: pages.map((page) => ({
        text: escaped(headingOf(page, readFileSync(join(docs, page), 'utf8'))),
        link: `/${addressed(page).replace(/(^|\/)index\.md$|\.md$/, '$1')}`,
      })),
    }))
}

/** As GitHub makes the anchors of headings, so that a link with an anchor leads to the same place there and here. */
export const slugOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-')

/** `outside`: a file of the checkout that is no page of the site; its path is shown instead of a link. */
export type Link = { readonly href: string } | { readonly outside: string }

/**
 * The one rule of links. A page of docs/ leads to that page, a folder of docs/ to its first page, and what lies outside
 * of docs/ or is no page leads nowhere on the site. A page that does not exist stays as it is: the build then fails of
 * a dead link. What lies outside of docs/ is not looked for, since the image is built from a part of the checkout.
 */
export const linkOf = (docs: string, from: string, href: string): Link => {
  if (/^([a-z][a-z+.-]*:|#|\/)/i.test(href)) return { href }
  const [path = '', anchor] = href.split('#')
  const target = join(docs, dirname(from), path)
  const inside = relative(docs, target).split(sep).join('/')
  const suffix = anchor === undefined ? '' : `#${anchor}`
  if (inside.startsWith('..')) return { outside: join('docs', inside).split(sep).join('/') }
  const isPage = inside.endsWith('.md') && !OMITTED.test(inside)
  if (!existsSync(target) || (isPage && !inside.endsWith('README.md'))) return { href }
  if (isPage) return { href: addressed(path) + suffix }
  const first = pagesIn(docs).find((page) => folderOf(page) === inside)
  if (first !== undefined && statSync(target).isDirectory())
    return { href: `${path.replace(/\/?$/, '/')}${addressed(first).slice(inside.length + 1)}` }
  return { outside: `docs/${inside}` }
}
