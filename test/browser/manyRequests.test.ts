/**
 * Point 5 of the proof of the console: 100,000 requests on PostgreSQL are listed, filtered, paged through and scrolled
 * like a hundred.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/persistence/open.ts'
import { describeWith } from '../support/needs.ts'
import { type Database, freshDatabase, sqlOnce } from '../support/postgres.ts'
import { openStoresBy } from '../support/stores.ts'
import { type Lived, type UiWorld, createConsole, lived, openUiWorld } from '../ui/world.ts'
import { CHROMIUM_HERE, type Served, openBrowser, serve, watchedPage } from './browser.ts'

const COPIES = 100_000
const PAGE_ROWS = 50
const NODES_MAX = 1000
const COPIED = ['BindFailed', 'Bound', 'Initial', 'Unbound']
const EACH = COPIES / COPIED.length
/** With thin spaces, as the pages write counts. */
const written = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, '\u202F')

/**
 * Rows of the list like the bound one, older than all others; a quarter in each of four states. Lists read nothing but
 * these rows.
 */
const copies = (uuid: string): string => `
  insert into arqs select copy.* from arqs cross join generate_series(1, ${COPIES}) n,
    jsonb_populate_record(arqs, jsonb_build_object(
      'uuid', md5('arq ' || n)::uuid, 'instance_uuid', md5('instance ' || n)::uuid, 'project_id', 'project-' || n % 10,
      'state', (array['${COPIED.join("','")}'])[1 + n % ${COPIED.length}], 'created_at', created_at - 1000 * n)) copy
  where arqs.uuid = '${uuid}'; analyze arqs`

describeWith(CHROMIUM_HERE, 'point 5, 100,000 requests are boring:', (chromium) =>
  describeWith('postgres', 'on PostgreSQL', (bin) => {
    let browser: Browser
    let database: Database
    let world: UiWorld
    let seen: Lived
    let served: Served
    let page: Page
    let asked: string[]
    beforeAll(async () => {
      database = await freshDatabase(bin)
      openStoresBy(() => openStore({ kind: 'postgres', url: database.url }))
      world = await openUiWorld()
      seen = await lived(world)
      await sqlOnce(database.url, copies(seen.bound.uuid))
      asked = []
      const fetch = ({ url }: Request) => void asked.push(new URL(url).pathname + new URL(url).search)
      served = await serve(createConsole(world, { fetch }))
      browser = await openBrowser(chromium)
      ;({ page } = await watchedPage(browser, served.base))
    }, 120_000)
    afterAll(async () => {
      await browser.close()
      await served.close()
      await world.close()
      await database.drop()
    })
    const live = () => page.waitForSelector('.taken #live.good')
    const rows = () => page.locator('tbody tr .id[href^="arqs/"]').allTextContents()
    const states = async () => new Set(await page.locator('tbody td:first-child .state').allTextContents())
    const nodes = () => page.evaluate<number>('document.querySelectorAll("*").length')

    test('the home page counts all of them, and lists a few', async () => {
      await page.goto(served.base)
      await live()
      expect(await page.locator('.tiles .total').first().textContent()).toBe(written(COPIES + 4))
      expect(await page.textContent('.findings')).toContain(`${written(EACH + 1)}\u00A0requests could not be bound`)
      expect(await nodes()).toBeLessThan(NODES_MAX)
    })
    test('the page of requests has one page of rows, whatever is behind it, and asks for no more', async () => {
      await page.goto(`${served.base}arqs`)
      await live()
      asked = []
      await page.reload()
      await live()
      expect(await rows()).toHaveLength(PAGE_ROWS)
      expect(await nodes()).toBeLessThan(NODES_MAX)
      const lists = asked.filter((path) => path.startsWith('/v2/accelerator_requests'))
      expect(new Set(lists)).toEqual(
        new Set([`/v2/accelerator_requests?limit=${PAGE_ROWS + 1}&sort_key=created_at&sort_dir=desc`]),
      )
      expect(await page.textContent('.tabs a[aria-current]')).toBe(`All${written(COPIES + 4)}`)
    })
    test('a filter shows its own, with their exact number', async () => {
      for (const state of COPIED) {
        await page.click(`.tabs a:has-text("${state}"):not(:has-text("Un${state.toLowerCase()}"))`)
        await page.waitForURL(`${served.base}arqs?state=${state}`)
        await live()
        expect(await states()).toEqual(new Set([state]))
        expect(await rows()).toHaveLength(PAGE_ROWS)
        const own = state === 'Unbound' ? EACH : EACH + 1
        expect(await page.textContent('.tabs a[aria-current]')).toBe(`${state}${written(own)}`)
      }
    })
    test('pages follow each other without a gap or a repeat, there and back, by keys', async () => {
      await page.goto(`${served.base}arqs?state=Bound`)
      const pages: (readonly string[])[] = []
      const turn = async (key: string) => {
        const before = page.url()
        await live()
        pages.push(await rows())
        await page.keyboard.press(key)
        await page.waitForURL((url) => url.href !== before)
      }
      for (const key of [']', ']', ']', '[', '[', '[']) await turn(key)
      await live()
      pages.push(await rows())
      expect(pages.slice(4)).toEqual(pages.slice(0, 3).toReversed())
      expect(new Set(pages.slice(0, 4).flat()).size).toBe(4 * PAGE_ROWS)
      const { json } = await world.must(
        200,
        `GET /v2/accelerator_requests?state=Bound&limit=${4 * PAGE_ROWS}&sort_dir=desc&sort_key=created_at`,
      )
      expect(pages.slice(0, 4).flat()).toEqual(json.arqs.map(({ uuid }: { readonly uuid: string }) => uuid))
    })
    test('the last page is reached at once, and says that it is the last', async () => {
      const last = `GET /v2/accelerator_requests?limit=${PAGE_ROWS / 2}&sort_dir=asc&sort_key=created_at`
      const oldest = (await world.must(200, last)).json.arqs.map(({ uuid }: { readonly uuid: string }) => uuid)
      await page.goto(`${served.base}arqs?after=${oldest.at(-1)}`)
      await live()
      expect(await rows()).toEqual(oldest.slice(0, -1).toReversed())
      expect(await page.locator('.turn.off').allTextContents()).toEqual(['Next ›'])
    })
    test('the page can be scrolled to its end, and has no second page of rows hidden in it', async () => {
      await page.goto(`${served.base}arqs`)
      await live()
      await page.keyboard.press('End')
      await expect
        .poll(() => page.evaluate('document.documentElement.scrollHeight - scrollY - innerHeight'))
        .toBeLessThanOrEqual(1)
      expect(await page.isVisible('.turning')).toBe(true)
      expect(await nodes()).toBeLessThan(NODES_MAX)
    })
    test('the search finds one of them, and a new one appears at the top while its row before keeps the focus', async () => {
      await page.keyboard.press('/')
      await page.keyboard.type(seen.bound.uuid)
      await page.keyboard.press('Enter')
      await page.waitForURL(`${served.base}arqs/${seen.bound.uuid}`)
      await page.goto(`${served.base}arqs`)
      await live()
      await page.keyboard.press('j')
      const first = (await rows())[0]
      const sent = { body: { device_profile_name: 'fpga-small' } }
      const { uuid } = (await world.must(201, 'POST /v2/accelerator_requests', sent)).json.arqs[0]
      await page.waitForSelector(`tbody tr:first-child:has-text("${uuid}")`)
      expect(await page.evaluate('document.activeElement?.textContent')).toBe(first)
      expect(await rows()).toHaveLength(PAGE_ROWS)
    })
  }),
)
