/** A host is asked for a report, in a real browser. */
import { randomUUID } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { type UiWorld, createConsole, openUiWorld } from '../ui/world.ts'
import { CHROMIUM_HERE, type Served, openBrowser, serve, violationsOf, watchedPage } from './browser.ts'

describeWith(CHROMIUM_HERE, 'asking a host in a browser', (chromium) => {
  let browser: Browser
  let world: UiWorld
  let served: Served
  beforeAll(async () => {
    browser = await openBrowser(chromium)
    world = await openUiWorld(undefined, { hosts: [] })
    served = await serve(createConsole(world))
  })
  afterAll(async () => {
    await browser.close()
    await served.close()
    await world.close()
  })

  test('the page of the host says what it reported', async () => {
    const boot = randomUUID()
    const reports = (more: object = {}) =>
      world.report('compute-9', [{ driver: 'd1', status: 'ok', devices: [] }], boot, { bootNumber: 1, ...more })
    await reports()
    const { page, complaints, foreign } = await watchedPage(browser, served.base)
    await page.goto(`${served.base}hosts/compute-9`)
    await page.click('text=Ask for a report')
    await page.click('button.full', { noWaitAfter: true })
    await expect.poll(() => world.questions.length).toBe(1)
    await reports({ slots: { prepared: [], answers: world.questions[0]!.id } })
    await page.waitForURL(/\/hosts\/compute-9\?done=probe&ended=answered/)
    expect(await page.textContent('main')).toContain('Last question for a report')
    expect(await violationsOf(page)).toEqual([])
    expect([complaints, foreign]).toEqual([[], []])
    await page.close()
  })
})
