/** A host is asked for a report, in a real browser. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { openUiWorld } from '../ui/world.ts'
import { CHROMIUM_HERE, violationsOf, watchedPage } from './browser.ts'
import { openStage } from './stage.ts'

describeWith(CHROMIUM_HERE, 'asking a host in a browser', (chromium) => {
  const stage = openStage(chromium, { open: () => openUiWorld(undefined, { hosts: [] }) })

  test('the page of the host says what it reported', async () => {
    const boot = randomUUID()
    const reports = (more: object = {}) =>
      stage.world.report('compute-9', [{ driver: 'd1', status: 'ok', devices: [] }], boot, { bootNumber: 1, ...more })
    await reports()
    const { page, complaints, foreign } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}hosts/compute-9`)
    await page.click('text=Ask for a report')
    await page.click('button.full', { noWaitAfter: true })
    await expect.poll(() => stage.world.questions.length).toBe(1)
    await reports({ slots: { prepared: [], answers: stage.world.questions[0]!.id } })
    await page.waitForURL(/\/hosts\/compute-9\?done=probe&ended=answered/)
    expect(await page.textContent('main')).toContain('Last question for a report')
    expect(await violationsOf(page)).toEqual([])
    expect([complaints, foreign]).toEqual([[], []])
    await page.close()
  })
})
