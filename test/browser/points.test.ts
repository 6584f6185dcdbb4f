/**
 * What the ten points of the console (decision 0083) ask for beyond `console.test.ts`: nothing from elsewhere, nothing
 * lost, keys under load, places that links name.
 */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { createConsole, lived, placesOf } from '../ui/world.ts'
import { CHROMIUM_HERE, serve, under, watchedPage } from './browser.ts'
import { openStage } from './stage.ts'

describeWith(CHROMIUM_HERE, 'the console in a browser', (chromium) => {
  const stage = openStage(chromium, { before: lived })
  const live = (page: Page) => page.waitForSelector('.taken #live.good')
  const rowIds = (page: Page) => page.locator('tbody tr .id[href^="arqs/"]').allTextContents()
  const created = async (): Promise<string> => {
    const sent = { body: { device_profile_name: 'fpga-small' } }
    return (await stage.world.must(201, 'POST /v2/accelerator_requests', sent)).json.arqs[0].uuid
  }

  test('point 1, nothing is fetched from elsewhere: with every other machine out of reach all pages work, without a word on the console of the browser', async () => {
    const { page, complaints, foreign } = await watchedPage(stage.browser, stage.served.base)
    for (const place of placesOf(stage.seen)) {
      const answer = await page.goto(stage.served.base + place)
      const policy = answer!.headers()['content-security-policy']!
      expect(policy, place).toContain("default-src 'none'")
      expect(policy, place).not.toContain('unsafe')
    }
    await live(page)
    expect([complaints, foreign]).toEqual([[], []])
    await page.close()
  })

  test('point 2, it is light: the first answer has the rows in it, and nothing else has to come before they are seen', async () => {
    const context = await stage.browser.newContext()
    const page = await context.newPage()
    await page.route(/\/assets\/.*\.js$/, (route) => route.abort())
    await page.goto(`${stage.served.base}arqs`)
    expect(await rowIds(page)).toContain(stage.seen.failed.uuid)
    expect(await page.evaluate('document.documentElement.classList.contains("taken")')).toBe(false)
    await context.close()
  })

  test('point 3, it is alive and says so: what happened while the service was away is there afterwards, each event once and in its order', async () => {
    const own = await serve(createConsole(stage.world))
    const { page } = await watchedPage(stage.browser, own.base)
    await page.goto(`${own.base}events?after=0&kind=arq`)
    await live(page)
    const port = Number(new URL(own.base).port)
    await own.close()
    await page.waitForSelector('#live.bad:has-text("reconnecting")')
    await page.waitForSelector('#live.bad:text-matches("reconnecting · [1-9] s old")')
    const made = [await created(), await created(), await created()]
    const again = await serve(createConsole(stage.world), port)
    await page.waitForSelector('#live.good', { timeout: 20_000 })
    for (const uuid of made) await page.waitForSelector(`tbody tr:has-text("${uuid}")`)
    const shown = await page
      .locator('tbody td:last-child a')
      .evaluateAll((links) =>
        links.map((link) => new URL((link as unknown as { readonly href: string }).href).searchParams.get('after')),
      )
    const asked = createConsole(stage.world)
    const journal = await asked.request('/ui/events?after=0&kind=arq', { headers: { accept: 'application/json' } })
    const { body } = (await journal.json()) as {
      readonly body: { readonly events: { readonly value: { readonly lines: readonly { readonly id: string }[] } } }
    }
    expect(shown).toEqual(body.events.value.lines.map(({ id }) => id).toReversed())
    await page.close()
    await again.close()
  })

  test('point 6, keyboard alone: the way back leads to the same row, and hundreds of events do not take the focus from it', async () => {
    const { page } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}arqs`)
    await live(page)
    const focused = () => page.evaluate<string>('document.activeElement?.textContent ?? ""')
    const isVisible = () => page.evaluate('document.activeElement?.matches(":focus-visible")')
    const row = page.locator(`a[href="arqs/${stage.seen.failed.uuid}"]`)
    for (let pressed = 0; pressed < 20 && (await focused()) !== stage.seen.failed.uuid; pressed++)
      await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=link down')
    await live(page)
    for (let pressed = 0; pressed < 60 && (await focused()) !== 'compute-1'; pressed++) await page.keyboard.press('Tab')
    expect([await focused(), await isVisible()]).toEqual(['compute-1', true])
    await page.keyboard.press('Enter')
    await page.waitForURL(`${stage.served.base}hosts/compute-1`)
    await page.goBack()
    await page.waitForURL(/\/ui\/arqs\//)
    await live(page)
    expect(await focused()).toBe('compute-1')
    await page.goBack()
    await page.waitForURL(`${stage.served.base}arqs`)
    await live(page)
    expect([await focused(), await isVisible()]).toEqual([stage.seen.failed.uuid, true])
    const seenTimes = new Set<string>()
    for (let burst = 0; burst < 20; burst++) {
      await Promise.all(Array.from({ length: 20 }, (_, at) => stage.world.newProfile(`burst-${burst}-${at}`)))
      seenTimes.add(await focused())
    }
    expect([[...seenTimes], await isVisible(), await row.count()]).toEqual([[stage.seen.failed.uuid], true, 1])
    await page.close()
  })

  test('point 9, a link is a place: a step of a request, in a new profile and behind a proxy', async () => {
    const proxied = await under('/x/y', stage.served.base)
    const { page } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}arqs/${stage.seen.failed.uuid}`)
    await live(page)
    await page.click('.steps a[href$="#step-3"]')
    const { hash } = new URL(page.url())
    expect([hash, await page.locator('tr:target').count()]).toEqual(['#step-3', 1])
    const chosen = (on: Page) => on.textContent('tr:target')
    const text = await chosen(page)
    expect(text).toContain('bind failed')
    const context = await stage.browser.newContext({ viewport: { width: 900, height: 300 } })
    const other = await context.newPage()
    for (const base of [stage.served.base, proxied.base]) {
      await other.goto(`${base}arqs/${stage.seen.failed.uuid}${hash}`)
      await live(other)
      expect(await chosen(other)).toBe(text)
      const top = await other.locator('tr:target').evaluate((place) => place.getBoundingClientRect().top)
      expect(top).toBeGreaterThanOrEqual(56)
      expect(top).toBeLessThan(300)
    }
    await context.close()
    await page.close()
    await proxied.close()
  })

  test('point 9, a link is a place: a filter is in the address, and the way back leads to where the list was scrolled', async () => {
    for (let made = 0; made < 40; made++) await created()
    const { page } = await watchedPage(stage.browser, stage.served.base, { viewport: { width: 1280, height: 500 } })
    await page.goto(`${stage.served.base}arqs`)
    await page.click('.tabs a:has-text("Initial")')
    await page.waitForURL(`${stage.served.base}arqs?state=Initial`)
    await live(page)
    const link = page.locator('tbody tr:nth-child(30) a[href^="arqs/"]')
    await link.scrollIntoViewIfNeeded()
    const before = await page.evaluate<number>('scrollY')
    expect(before).toBeGreaterThan(300)
    await link.click()
    await page.waitForURL(/\/ui\/arqs\/[0-9a-f-]{36}$/)
    await live(page)
    await page.goBack()
    await page.waitForURL(`${stage.served.base}arqs?state=Initial`)
    await live(page)
    expect(Math.abs((await page.evaluate<number>('scrollY')) - before)).toBeLessThan(60)
    await page.close()
  })

  test('a long text without a space leaves every column of its list in view', async () => {
    const body = [{ name: 'wordy', description: 'é'.repeat(300), groups: [{ 'resources:FPGA': '1' }] }]
    await stage.world.must(201, 'POST /v2/device_profiles', { body })
    const context = await stage.browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    await page.goto(`${stage.served.base}profiles`)
    await page.waitForSelector('tbody tr:has-text("wordy")')
    const beyond =
      "(({ scrollWidth, parentElement }) => scrollWidth - parentElement.clientWidth)(document.querySelector('table'))"
    expect(await page.evaluate(beyond)).toBeLessThanOrEqual(0)
    await context.close()
  })
})
