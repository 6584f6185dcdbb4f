/** Pages over an API that has chosen documents: what they say, what the API was asked for them, and their keys. */
import * as preact from 'preact'
import { expect } from 'vitest'
import { createUi } from '../../src/ui/app.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { handClock } from '../support/lab.ts'

/** The present of drawn pages. */
export const NOW = Date.UTC(2026, 2, 1, 12, 0, 0)
export const ago = (ms: number): string => new Date(NOW - ms).toISOString()
export const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
export const TIMES = { created_at: ago(7_200_000), updated_at: null }
/** The content policy of every page, to the letter. */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
].join('; ')
/** The files beside the pages are tested elsewhere, and take a while to be made. */
export const noAssets = async () => ({ hash: 'hash', scripts: (view: string) => [`${view}.js`], get: () => undefined })
export const mainOf = (html: string): string => /<main[^]*<\/main>/.exec(html)?.[0] ?? html

export type Documents = Readonly<Record<string, unknown>>
const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' }
/** What a page says: `|` between the texts of its elements, each space a plain one. */
export const saidOf = (html: string): string =>
  html
    .replaceAll(/<form action="find"[^]*?<\/form>|<select[^]*?<\/select>/g, '')
    .replaceAll(/<[^>]*>/g, '|')
    .replaceAll(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(?:\| ?)+/g, '|')

type UiParts = Parameters<typeof createUi>[0]
/** A console over that API, on which time stands still unless another clock is given. */
export const uiOver = (fetch: UiParts['fetch'], given: Partial<UiParts> = {}) =>
  createUi({
    fetch,
    assets: noAssets,
    signIn: null,
    barred: () => null,
    clock: { ...handClock(), now: () => NOW },
    ids: { uuid: () => uuid(9999) },
    log: silent,
    ...given,
  })
/** A page over an API that has these documents, by path or by method and path; there is nothing else. */
export const pageOf = async (documents: Documents, place: string) => {
  const asked: string[] = []
  const fetch = (request: Request): Response => {
    const { pathname, search } = new URL(request.url)
    const path = pathname.slice('/v2'.length)
    asked.push(`${path}${search}`)
    const document = documents[`${request.method} ${path}`] ?? documents[path]
    if (document instanceof Response) return document.clone()
    return document === undefined ? new Response('', { status: 404 }) : Response.json(document)
  }
  const answer = await uiOver(fetch).request(`/ui/${place}`)
  const whole = await answer.text()
  return { status: answer.status, asked, whole, html: mainOf(whole), said: saidOf(mainOf(whole)) }
}
/** That a page says these texts in this order, and none of those that begin with `!`. */
export const expectSaid = (said: string, texts: readonly string[]): void => {
  let at = 0
  for (const text of texts) {
    if (text.startsWith('!')) {
      expect(said).not.toContain(text.slice(1))
      continue
    }
    const found = said.indexOf(text, at)
    expect(found < 0 ? said.slice(at) : text, said).toContain(text)
    at = found + text.length - (text.endsWith('|') ? 1 : 0)
  }
}

/** What preact calls with each element that is made; our types of it name only what the console uses. */
type Key = string | number | null | undefined
type Element = { readonly type: unknown; readonly key?: Key; readonly props: { readonly children?: unknown } }
const { options } = preact as unknown as { readonly options: { vnode?: (node: Element) => void } }
const isElement = (child: unknown): child is Element => typeof child === 'object' && child !== null && 'props' in child

/** How many keys `work` draws, and elements of which two children have the same key. */
const drawnKeys = async (work: () => Promise<unknown>) => {
  const doubled = new Set<string>()
  let keys = 0
  const before = options.vnode
  options.vnode = (node) => {
    const { type, key, props } = node
    if (key !== null && key !== undefined) keys++
    const own = [props.children].flat(Infinity).flatMap((child) => (isElement(child) ? (child.key ?? []) : []))
    if (new Set(own).size < own.length) doubled.add(`${String(type)} of ${own.join(', ')}`)
    before?.(node)
  }
  try {
    await work()
  } finally {
    if (before === undefined) delete options.vnode
    else options.vnode = before
  }
  return { keys, doubled: [...doubled] }
}
/**
 * That no two entries of one list have the same key on the pages that `draw` draws: a browser that draws a page anew
 * knows the entries again by them.
 */
export const expectOwnKeys = async (places: readonly string[], draw: (place: string) => Promise<unknown>) => {
  for (const place of places) {
    const { keys, doubled } = await drawnKeys(() => draw(place))
    expect([keys > 0, doubled], place).toEqual([true, []])
  }
}
