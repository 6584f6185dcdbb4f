/** Dead letters as an operator handles them, in a real browser. */
import { expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { bury, openUiWorld } from '../ui/world.ts'
import { CHROMIUM_HERE, watchedPage } from './browser.ts'
import { openStage } from './stage.ts'

describeWith(CHROMIUM_HERE, 'dead letters in a browser', (chromium) => {
  const stage = openStage(chromium, { open: () => openUiWorld(undefined, { hosts: ['compute-1'] }) })

  test('one is opened from the list, read in both forms, downloaded, and sent again with a reason', async () => {
    const uuid = await bury(stage.world, 1, 'no JSON: ä')
    const { page, complaints, foreign } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}deliveries`)
    await page.click('text=Dead letters')
    await page.click(`a[href="letters/${uuid}"]`)
    await page.waitForSelector('pre.bytes')
    expect(await page.textContent('pre.bytes')).toBe('no JSON: ä')
    await page.click('text=Hexadecimal')
    await page.waitForFunction('document.querySelector("pre.bytes")?.textContent.startsWith("00000000")')
    expect(await page.textContent('pre.bytes')).toContain('6e 6f 20 4a 53 4f 4e')
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Download')])
    expect(download.suggestedFilename()).toBe(`dead-letter-${uuid}`)
    await page.click('text=Send again')
    await page.fill('input[name="reason"]', 'the host is mended')
    await page.click('button.full')
    await page.waitForURL(/\/letters\/[^/]+\?done=replay/)
    expect(await page.textContent('.head .state')).toBe('sent again')
    expect(await page.textContent('main')).toContain('the host is mended')
    expect([complaints, foreign]).toEqual([[], []])
    await page.close()
  })
  test('one is dropped only after the beginning of its UUID was typed, and leaves the list', async () => {
    const uuid = await bury(stage.world, 2)
    const { page } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}letters/${uuid}/do/drop`)
    await page.fill('input[name="reason"]', 'of a test')
    await page.fill('input[name="confirm"]', uuid.slice(0, 8))
    await page.click('button.full')
    await page.waitForURL(/\/letters\/[^/]+\?done=drop/)
    await page.goto(`${stage.served.base}letters`)
    expect(await page.textContent('main')).not.toContain('offset 2')
    await page.close()
  })
})
