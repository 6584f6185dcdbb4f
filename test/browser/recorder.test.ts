/** The flight recorder in a browser: keys, gaps that are opened, moments of the past, and files. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { createConsole, lived } from '../ui/world.ts'
import { CHROMIUM_HERE, violationsOf, watchedPage } from './browser.ts'
import { openStage } from './stage.ts'

describeWith(CHROMIUM_HERE, 'the flight recorder in a browser', (chromium) => {
  const stage = openStage(chromium, { before: lived })
  const live = (page: Page) => page.waitForSelector('.taken #live.good')
  /** The list that has the focus, the step in it, and whether the focus can be seen. */
  const focused = (page: Page) =>
    page.evaluate<readonly [string | undefined, string | undefined, boolean]>(
      `(() => {
        const at = document.activeElement
        return [at?.closest('.lanes, .steps')?.classList[0], at?.dataset.step, at?.matches(':focus-visible') ?? false]
      })()`,
    )
  // what the driver knows of the address comes later than what the page has made of it
  const addressOf = async (page: Page) => new URL(await page.evaluate<string>('location.href'))
  const queryOf = async (page: Page) => (await addressOf(page)).search
  const kept = async (uuid: string): Promise<string> =>
    (await createConsole(stage.world).request(`/ui/arqs/${uuid}/timeline.json`)).text()

  test('keys lead from step to step and from party to party, and to the recorded event; the help names them', async () => {
    const { page, complaints } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}arqs/${stage.seen.failed.uuid}`)
    await live(page)
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toEqual(['lanes', '1', true])
    await page.keyboard.press('ArrowDown')
    expect(await focused(page)).toEqual(['lanes', '2', true])
    await page.keyboard.press('ArrowLeft')
    expect(await focused(page)).toEqual(['lanes', '1', true])
    await page.keyboard.press('ArrowRight')
    const who = await page.evaluate('document.activeElement.dataset.who')
    expect([who, await focused(page)]).toEqual(['compute-1', ['lanes', '2', true]])
    await page.keyboard.press('Enter')
    expect([(await addressOf(page)).hash, await focused(page)]).toEqual(['#step-2', ['rows', '2', true]])
    expect(await page.locator('#step-2 details[open]').count()).toBe(1)
    await page.keyboard.press('ArrowUp')
    expect(await focused(page)).toEqual(['rows', '1', true])
    await page.keyboard.press('?')
    expect(await page.textContent('#help')).toContain('previous and next party')
    await page.keyboard.press('t')
    expect(await queryOf(page)).toBe('')
    await page.keyboard.press('Escape')
    expect(complaints).toEqual([])
    await page.close()
  })

  test('t and r change what is shown and the address, keep the step that has the focus, and outlast what happens', async () => {
    const waiting = await stage.world.begun('fpga-small')
    const { page } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}arqs/${waiting.uuid}`)
    await live(page)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('t')
    expect([await queryOf(page), await focused(page)]).toEqual(['?t=table', ['rows', '2', true]])
    expect(await page.locator('.lanes').count()).toBe(0)
    await page.keyboard.press('r')
    expect(await queryOf(page)).toBe('?t=table&r=1')
    expect(await page.locator('.steps details:not([open])').count()).toBe(0)
    await stage.world.answer(waiting.order)
    await page.waitForSelector('.head .state:text("Bound")')
    expect(await page.locator('.lanes').count()).toBe(0)
    expect(await page.locator('.steps details:not([open])').count()).toBe(0)
    expect(await focused(page)).toEqual(['rows', '2', true])
    await page.keyboard.press('t')
    expect([await queryOf(page), await focused(page)]).toEqual(['?t=bars&r=1', ['lanes', '2', true]])
    const other = await stage.browser.newPage()
    await other.goto((await addressOf(page)).href)
    expect([await other.locator('.lanes').count(), await other.locator('.steps').count()]).toEqual([1, 0])
    await other.close()
    // a bar leads to its step, so the table comes back
    await page.keyboard.press('Enter')
    expect([await queryOf(page), await focused(page)]).toEqual(['?r=1', ['rows', '2', true]])
    await page.close()
  })

  test('[ and ] lead to the requests of the instance before and after this one, shown in the same way', async () => {
    const both = { body: [{ name: 'two', groups: [{ 'resources:FPGA': '2' }] }] }
    await stage.world.must(201, 'POST /v2/device_profiles', both)
    const { instance } = await stage.world.begun('two')
    const { arqs } = (await stage.world.must(200, `GET /v2/accelerator_requests?instance=${instance}`)).json
    const [one, two] = (arqs as readonly { readonly uuid: string }[]).map(({ uuid }) => uuid)
    const { page } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}arqs/${one}?t=table`)
    await live(page)
    await page.keyboard.press('[')
    await page.keyboard.press(']')
    await page.waitForURL(`${stage.served.base}arqs/${two}?t=table`)
    await live(page)
    await page.keyboard.press('[')
    await page.waitForURL(`${stage.served.base}arqs/${one}?t=table`)
    await page.close()
  })

  test('a page without steps keeps the arrows, which scroll it', async () => {
    const { page } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}timeline`)
    await page.waitForSelector('.taken')
    const isKept = (key: string) =>
      page.evaluate<boolean>(
        `document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))`,
      )
    expect([await isKept('ArrowDown'), await isKept('ArrowUp')]).toEqual([true, true])
    await page.goto(`${stage.served.base}arqs/${stage.seen.failed.uuid}`)
    await live(page)
    expect([await isKept('ArrowDown'), await isKept('ArrowUp')]).toEqual([false, false])
    await page.close()
  })

  test('a letter in the first second of a page is not the second key of g and a letter', async () => {
    const { page } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}arqs/${stage.seen.failed.uuid}`)
    await page.waitForSelector('.taken')
    const early = await page.evaluate<boolean>(
      `(() => {
        const pressed = new KeyboardEvent('keydown', { key: 'h', bubbles: true, cancelable: true })
        Object.defineProperty(pressed, 'timeStamp', { value: 500 })
        return document.body.dispatchEvent(pressed)
      })()`,
    )
    expect(early).toBe(true)
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.waitForURL(`${stage.served.base}hosts`)
    await page.close()
  })

  test('a step leads to the past, which is marked, does not change, and leads back', async () => {
    const waiting = await stage.world.begun('fpga-small')
    const { page } = await watchedPage(stage.browser, stage.served.base)
    await page.goto(`${stage.served.base}arqs/${waiting.uuid}`)
    await live(page)
    await page.click('#step-2 a:text("As of then")')
    await page.waitForSelector('.past:has-text("This is the past")')
    await page.waitForSelector('.taken')
    expect(await violationsOf(page)).toEqual([])
    const steps = () => page.locator('.steps tbody tr').count()
    const before = await steps()
    await stage.world.answer(waiting.order)
    await page.keyboard.press('t')
    expect([await steps(), (await addressOf(page)).searchParams.has('as_of')]).toEqual([before, true])
    await page.click('a:text("Back to now")')
    await live(page)
    expect([await queryOf(page), await page.textContent('.head .state')]).toEqual(['?t=table', 'Bound'])
    const { steps: all } = JSON.parse(await kept(waiting.uuid)) as { readonly steps: readonly { at: string }[] }
    const created = all[0]!
    const until = all.filter(({ at }) => at <= created.at).length
    await page.fill('input[name=as_of]', created.at)
    await page.click('button:text("Show that moment")')
    await page.waitForSelector('.past')
    expect([await steps(), (await addressOf(page)).searchParams.get('t')]).toEqual([until, 'table'])
    await page.close()
  })

  test('a file is opened, its long gaps are drawn in full and short again by a click, and a bad one is explained', async () => {
    const { page, complaints, foreign } = await watchedPage(stage.browser, stage.served.base)
    const whole = JSON.parse(await kept(stage.seen.bound.uuid)) as { steps: { at: string; step: string }[] }
    const last = whole.steps.at(-1)!
    const steps = [
      ...whole.steps,
      { ...last, at: new Date(Date.parse(last.at) + 3_600_000).toISOString(), step: 'unbound' },
    ]
    const file = (name: string, text: string) => ({ name, mimeType: 'application/json', buffer: Buffer.from(text) })
    const open = async (name: string, text: string) => {
      await page.setInputFiles('input[type=file]', file(name, text))
      await page.click('button:text("Open it")')
    }
    await page.goto(`${stage.served.base}arqs/${stage.seen.bound.uuid}`)
    await page.click('a:text("Open a file")')
    await page.waitForURL(`${stage.served.base}timeline`)
    await open('bad.json', '{"arq": 5}')
    await page.waitForSelector('.trouble:has-text("bad.json")')
    expect(await violationsOf(page)).toEqual([])
    // more than is read: the answer comes although the browser is still sending
    await open('huge.json', `"${'x'.repeat(6 * 1024 * 1024)}"`)
    await page.waitForSelector('.trouble:has-text("larger than 4 MiB")')
    await open('kept.json', JSON.stringify({ ...whole, steps }))
    await page.waitForSelector('.taken h1:text("Timeline in kept.json")')
    expect(await violationsOf(page)).toEqual([])
    const width = (label: string) =>
      page.locator(`.lane:has(a:text-is("${label}")) rect`).evaluate((bar) => bar.getBoundingClientRect().width)
    const before = await width('in use')
    expect(await page.locator('.break').count()).toBe(1)
    await page.click('a.gap')
    await page.waitForSelector('a.gap:text("draw it short")')
    expect(await queryOf(page)).toMatch(/^\?open=\d+$/)
    expect(await width('in use')).toBeGreaterThan(before * 5)
    await page.keyboard.press('Enter')
    await page.waitForSelector('a.gap:text("draw it in full")')
    expect([await queryOf(page), await width('in use')]).toEqual(['', before])
    await page.keyboard.press('t')
    expect([await queryOf(page), await page.locator('.lanes').count()]).toEqual(['?t=table', 0])
    expect([complaints.filter((one) => !/status of (400|413)/.test(one)), foreign]).toEqual([[], []])
    await page.close()
  })
})
