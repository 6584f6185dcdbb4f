/** Pages as text, a line for each element, and what the API was asked for them. */
import * as preact from 'preact'
import { expect } from 'vitest'
import { createUi } from '../../src/ui/app.ts'
import { silent } from '../../src/log.ts'
import { handClock } from '../support/lab.ts'

/** The present of drawn pages. */
export const NOW = Date.UTC(2026, 2, 1, 12, 0, 0)
export const ago = (ms: number): string => new Date(NOW - ms).toISOString()
export const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
export const TIMES = { created_at: ago(7_200_000), updated_at: null }
export const noWaiting = { waiting: 0, oldest_at: null }
/** The files beside the pages are tested elsewhere, and take a while to be made. */
export const noAssets = async () => ({ hash: 'hash', scripts: (view: string) => [`${view}.js`], get: () => undefined })
/** A line for each element. */
export const lines = (html: string): string => html.replaceAll(/(?<=>)(?=<)/g, '\n')
export const mainOf = (html: string): string => lines(/<main[\s\S]*<\/main>/.exec(html)?.[0] ?? html)

/** Over an API that has these documents, by path or by method and path; there is nothing else. */
export const pagesOf = async (
  documents: Readonly<Record<string, unknown>>,
  places: readonly string[],
  now: number,
): Promise<string> => {
  let asked: string[] = []
  const fetch = (request: Request): Response => {
    const { pathname, search } = new URL(request.url)
    const path = pathname.slice('/v2'.length)
    asked.push(`${pathname}${search}`)
    const document = documents[`${request.method} ${path}`] ?? documents[path]
    return document === undefined ? new Response('', { status: 404 }) : Response.json(document)
  }
  const clock = { ...handClock(), now: () => now }
  const ids = { uuid: () => uuid(9999) }
  const ui = createUi({ fetch, assets: noAssets, signIn: null, barred: () => null, clock, ids, log: silent })
  let text = ''
  for (const place of places) {
    asked = []
    const answer = await ui.request(`/ui/${place}`)
    const questions = asked.toSorted().map((path) => `asked ${path}\n`)
    text += `### ${place} ${answer.status}\n${questions.join('')}${mainOf(await answer.text())}\n\n`
  }
  return text
}

/** What preact calls with each element that is made; our types of it name only what the console uses. */
type Key = string | number | null | undefined
type Element = { readonly type: unknown; readonly key?: Key; readonly props: { readonly children?: unknown } }
const { options } = preact as unknown as { readonly options: { vnode?: (node: Element) => void } }
const isElement = (child: unknown): child is Element => typeof child === 'object' && child !== null && 'props' in child

/** The keys of what `work` draws, each with how often, and elements of which two children have the same key. */
const drawnKeys = async (work: () => Promise<unknown>) => {
  const [times, doubled] = [new Map<string, number>(), new Set<string>()]
  const before = options.vnode
  options.vnode = (node) => {
    const { type, key, props } = node
    const said = `${String(type)} ${String(key)}`
    if (key !== null && key !== undefined) times.set(said, (times.get(said) ?? 0) + 1)
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
  return { times, doubled: [...doubled] }
}
/**
 * The keys of the entries that the pages draw, without those of the frame, which every page has. No page shows its
 * keys: a browser that draws a page anew knows the entries again by them, so no two in one list may be the same.
 */
export const keysDuring = async (places: readonly string[], draw: (place: string) => Promise<unknown>) => {
  const { times: frame } = await drawnKeys(() => draw('find?q=nothing-of-this-name'))
  const keysIn = (times: ReadonlyMap<string, number>): string =>
    [...times].map(([key, count]) => `${count} ${key}\n`).join('')
  let text = `### the frame\n${keysIn(frame)}\n`
  for (const place of places) {
    const { times, doubled } = await drawnKeys(() => draw(place))
    expect(doubled, place).toEqual([])
    text += `### ${place}\n${keysIn(new Map([...times].filter(([key, count]) => frame.get(key) !== count)))}\n`
  }
  return text
}
