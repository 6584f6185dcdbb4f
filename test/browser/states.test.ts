/**
 * Points 7 and 8 of the console (decision 0083): states differ by more than colour, and each view has each of its
 * states, in words.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { type Fetch, type UiWorld, apiOf, consoleOf, createConsole, lived, openUiWorld } from '../ui/world.ts'
import { CHROMIUM_HERE, type Served, openBrowser, serve, violationsOf, watchedPage } from './browser.ts'

const refusal = (status: number, code: string, detail: string): Response =>
  Response.json(
    { errors: [{ status, code, detail, title: code }] },
    { status, headers: { 'x-openstack-request-id': 'req-77' } },
  )
/** Answers of the API to every question but that about permissions. */
const ANSWERS: Readonly<Record<string, () => Response | Promise<Response>>> = {
  fails: () => refusal(500, 'internal', 'the database has lost its head'),
  away: () => refusal(503, 'unavailable', 'the journal cannot be read at present'),
  forbidden: () => refusal(403, 'forbidden', 'Policy does not allow cyborg:thing:get_all to be performed.'),
  'no document': () => new Response('<html>', { status: 200 }),
}
const TITLES: Readonly<Record<string, string>> = {
  fails: 'This could not be read',
  away: 'No answer at present',
  forbidden: 'You may not see this',
  'no document': 'This could not be read',
}
/** What each view shows where there is nothing yet, and where a filter leaves nothing. */
const EMPTY: Readonly<Record<string, string>> = {
  '': 'No request was made yet',
  arqs: 'There is no accelerator request',
  hosts: 'No host has reported yet',
  devices: 'No host has reported a device',
  handles: 'No host has reported a device',
  profiles: 'There is no device profile',
  programs: 'No programmable device is known',
  deliveries: 'Nova has heard everything',
  events: 'Nothing has happened since this page was opened',
}
const FILTERED = [
  'capacity?resource_class=NOPE',
  'arqs?state=Deleting',
  'hosts?liveness=down',
  'devices?vendor=nobody',
  'handles?state=missing',
]
const VIEWS = [...Object.keys(EMPTY), 'capacity', 'usage', 'drift', 'system']

describeWith(CHROMIUM_HERE, 'the console in a browser', (chromium) => {
  let browser: Browser
  let world: UiWorld
  let bare: UiWorld
  const open: Served[] = []
  const served = async (app: Parameters<typeof serve>[0]): Promise<string> => {
    const one = await serve(app)
    open.push(one)
    return one.base
  }
  beforeAll(async () => {
    browser = await openBrowser(chromium)
    world = await openUiWorld()
    await lived(world)
    bare = await openUiWorld(undefined, { hosts: [] })
  })
  afterAll(async () => {
    await browser.close()
    for (const { close } of open) await close()
    await world.close()
    await bare.close()
  })
  const mainOf = async (page: Page): Promise<string> => (await page.textContent('main'))!.replaceAll(/\s+/g, ' ')
  const looked = async (page: Page, place: string): Promise<string> => {
    const text = await mainOf(page)
    expect(text, place).not.toMatch(/undefined|NaN|\[object/)
    return text
  }

  test('point 8, every state was designed: where there is nothing yet, each view says so and what comes next', async () => {
    const base = await served(createConsole(bare))
    const { page, complaints } = await watchedPage(browser, base)
    for (const [place, title] of Object.entries(EMPTY)) {
      await page.goto(base + place)
      expect(await looked(page, place), place).toContain(title)
      expect(await violationsOf(page), place).toEqual([])
    }
    expect(complaints).toEqual([])
    await page.close()
  })

  test('point 8, every state was designed: a filter that leaves nothing says so, and can be cleared', async () => {
    const base = await served(createConsole(world))
    const { page } = await watchedPage(browser, base)
    for (const place of FILTERED) {
      await page.goto(base + place)
      expect(await looked(page, place), place).toContain('Nothing matches this filter')
      await page.click('text=Clear the filter')
      expect(await page.locator('tbody tr').count(), place).toBeGreaterThan(0)
    }
    await page.close()
  })

  test('point 3, it is alive and says so: while the service cannot be asked, what was shown stays, with its age and the reason', async () => {
    let lost: (() => Response) | null = null
    const answering = apiOf(world)
    const fetch: Fetch = (request) => {
      const { pathname } = new URL(request.url)
      return lost === null || pathname.endsWith('/permissions') ? answering(request) : lost()
    }
    const base = await served(consoleOf(fetch))
    for (const [place, rows] of [
      ['arqs', 'tbody tr'],
      ['events?after=0', 'tbody tr'],
      ['', '.tiles .total'],
    ] as const) {
      lost = null
      const { page } = await watchedPage(browser, base)
      await page.goto(base + place)
      await page.waitForSelector('.taken #live.good')
      const before = await page.locator(rows).allTextContents()
      expect(before.length, place).toBeGreaterThan(0)
      lost = ANSWERS['away'] as () => Response
      await page.waitForSelector('#live.bad:has-text("reconnecting")')
      await page.waitForSelector('#lost:has-text("the journal cannot be read at present What is shown was read at")')
      expect(await page.locator(rows).allTextContents(), place).toEqual(before)
      expect(await page.locator('main .trouble').count(), place).toBe(0)
      expect(await violationsOf(page), place).toEqual([])
      lost = null
      await page.click('text=Ask again now')
      await page.waitForSelector('#live.good')
      expect(await page.isVisible('#lost'), place).toBe(false)
      await page.close()
    }
    // a page that had nothing to keep is not live either, and comes by itself
    lost = ANSWERS['away'] as () => Response
    const { page } = await watchedPage(browser, base)
    await page.goto(`${base}events`)
    await page.waitForSelector('.taken #live.bad')
    expect(await looked(page, 'events')).toContain('No answer at present')
    lost = null
    await page.waitForSelector('#live.good')
    expect(await looked(page, 'events')).toContain('Nothing has happened since')
    await page.close()
  })

  test.each(Object.keys(ANSWERS))(
    'point 8, every state was designed: where the API answers so, each view says it, and no figure stands for what is unknown: %s',
    async (answer) => {
      const fetch: Fetch = (request) =>
        new URL(request.url).pathname.endsWith('/permissions') ? world.api.fetch(request) : ANSWERS[answer]!()
      const base = await served(consoleOf(fetch))
      const { page } = await watchedPage(browser, base)
      for (const place of VIEWS) {
        await page.goto(base + place)
        const text = await looked(page, place)
        expect(text, place).toContain(TITLES[answer]!)
        expect(await page.locator('main .total, main .tab-count').count(), place).toBe(0)
        if (answer === 'forbidden') expect(text, place).toContain('cyborg:thing:get_all')
        if (answer === 'fails') expect(text, place).toContain('req-77')
        if (answer === 'fails') expect(await violationsOf(page), place).toEqual([])
      }
      await page.close()
    },
  )

  test('point 8, every state was designed: a neighbour that is not configured is no error and no zero', async () => {
    const base = await served(createConsole(world))
    const { page } = await watchedPage(browser, base)
    await page.goto(`${base}drift`)
    expect(await looked(page, 'drift')).toContain('Not configured')
    await page.goto(`${base}system`)
    expect(await looked(page, 'system')).toContain('not configured')
    await page.close()
  })

  test('point 7, everyone can read it: without colours states still differ, by shape and by word', async () => {
    const base = await served(createConsole(world))
    const { page } = await watchedPage(browser, base)
    const shapes = new Map<string, string>()
    for (const place of ['', 'arqs', 'devices', 'handles', 'hosts']) {
      await page.goto(base + place)
      const found = await page.evaluate<readonly (readonly [tone: string, shape: string, word: string])[]>(
        `[...document.querySelectorAll('main .state')].map((state) => {
          const mark = state.querySelector('svg.mark')
          return [mark.classList[1], mark.innerHTML, state.textContent.trim()]
        })`,
      )
      for (const [tone, shape, word] of found) {
        expect(word, place).not.toBe('')
        expect(shapes.get(tone) ?? shape, tone).toBe(shape)
        shapes.set(tone, shape)
      }
    }
    expect([...shapes.keys()].toSorted()).toEqual(['bad', 'busy', 'good', 'held', 'idle'])
    expect(new Set(shapes.values()).size).toBe(5)
    await page.close()
  })
})
