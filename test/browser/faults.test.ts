/**
 * Point 10 of the proof of the console, six planted faults: from the home page at most three steps lead to the sentence
 * that names the cause, and to the command that mends it.
 */
import { randomUUID } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Nova } from '../../src/actors/neighbours.ts'
import { put } from '../../src/actors/runtime/views.ts'
import { catalogueOf } from '../support/images.ts'
import { describeWith } from '../support/needs.ts'
import { type UiWorld, createConsole, openUiWorld } from '../ui/world.ts'
import { CHROMIUM_HERE, type Served, openBrowser, serve, watchedPage } from './browser.ts'

const STEPS_MAX = 3

describeWith(CHROMIUM_HERE, 'point 10, it explains: from the home page', (chromium) => {
  let browser: Browser
  let world: UiWorld
  let served: Served
  let page: Page
  let steps: number
  let refuses = false
  const nova: Nova = {
    notify: async (events) =>
      events.map(({ tag }) =>
        refuses
          ? { tag, outcome: 'refused', code: 400, note: 'Nova finds the event malformed' }
          : { tag, outcome: 'delivered', code: 200 },
      ),
  }
  beforeAll(async () => {
    browser = await openBrowser(chromium)
    world = await openUiWorld(undefined, { images: catalogueOf(), nova })
    await world.newProfile('fpga-small')
    served = await serve(createConsole(world))
    ;({ page } = await watchedPage(browser, served.base))
  })
  afterAll(async () => {
    await browser.close()
    await served.close()
    await world.close()
  })
  beforeEach(async () => {
    steps = 0
    await page.goto(served.base)
    await page.waitForSelector('.taken #live.good')
  })
  const step = async (selector: string) => {
    steps += 1
    await page.click(selector)
  }
  /** The sentence that names the cause and the command stand on the page, and it did not take long. */
  const told = async (sentence: string, command: string) => {
    await page.waitForSelector(`main :text("${sentence}")`)
    const commands = await page.locator('main .command code').allTextContents()
    expect(commands.filter((one) => one.startsWith(command))).not.toEqual([])
    expect(steps).toBeLessThanOrEqual(STEPS_MAX)
  }

  test('a silent host', async () => {
    const [row] = (await world.store.reads.page({
      view: 'hosts',
      where: { name: 'compute-2' },
      sort: 'name',
      limit: 1,
    }))!
    const silent = put('hosts', { ...row!, liveness: 'down' })
    const noted = {
      key: `arq/${randomUUID()}`,
      version: 1,
      commandId: randomUUID(),
      events: [],
      at: 1,
      cause: {},
    } as const
    await world.store.journal.append({ rows: [noted], changes: [silent] })
    await told('1\u00A0host is down', 'systemctl restart accelerando-host')
    await step('a:text("host is down")')
    await page.waitForSelector('main tbody :text("compute-2")')
    await world.store.journal.append({
      rows: [{ ...noted, version: 2, commandId: randomUUID() }],
      changes: [put('hosts', row!)],
    })
  })

  test('a trait that no device has', async () => {
    await world.must(201, 'POST /v2/device_profiles', {
      body: [{ name: 'odd', groups: [{ 'resources:FPGA': '1', 'trait:CUSTOM_NOBODY': 'required' }] }],
    })
    await step('.side a:text("Profiles")')
    await step('a:text("odd")')
    await step('a:text("Explain which hosts fit")')
    await told('it lacks CUSTOM_NOBODY', 'accelerando explain odd')
  })

  test('an image whose digest is wrong', async () => {
    const image = randomUUID()
    const before = world.orders.length
    const asked = world.say(`PATCH /v2/deployables/${world.fpga.uuid}/program`, {
      body: [{ op: 'replace', path: '/program', value: [{ image_uuid: image }] }],
    })
    await expect.poll(() => world.orders.length).toBeGreaterThan(before)
    const reason = 'the digest of the image is not the one that the image service has'
    await world.answer(world.orders.at(-1)!, { status: 'failed', reason, final: true })
    await asked
    await step('.side a:text("Programming")')
    await told(reason, 'accelerando bitstream preload')
  })

  test('an attach handle that is in doubt; the command, run, mends it', async () => {
    const { handles } = (await world.must(200, 'GET /v2/handles?state=free&hostname=compute-1')).json
    const { uuid } = handles[0] as { uuid: string }
    await world.must(200, `POST /v2/handles/${uuid}/quarantine`, { body: { reason: 'left over from a crash' } })
    await page.waitForSelector('a:text("quarantined until an operator looks")')
    await told('quarantined until an operator looks', 'accelerando handle release UUID --reason TEXT')
    await step('a:text("quarantined until an operator looks")')
    await step(`a:text("${uuid}")`)
    await told('left over from a crash', `accelerando handle show ${uuid}`)
    await world.must(200, `POST /v2/handles/${uuid}/release`, { body: { reason: 'looked at it' } })
    // the overview is counted once a second
    await expect
      .poll(
        async () => {
          await page.goto(served.base)
          return page.textContent('main')
        },
        { timeout: 10_000 },
      )
      .not.toContain('quarantined until')
  })

  test('a bind that its host refuses', async () => {
    const { uuid } = await world.failed('fpga-small')
    await page.waitForSelector('a:text("could not be bound")')
    await step('a:text("could not be bound")')
    await step(`a:text("${uuid}")`)
    await told('the card did not answer: link down', `accelerando arq show ${uuid} --timeline`)
    await world.must(200, `POST /v2/accelerator_requests/${uuid}/force_unbind`, {
      body: { reason: 'its server is gone' },
    })
    await page.goto(served.base)
    await page.waitForSelector('main:not(:has-text("could not be bound"))')
  })

  test('an event that Nova has refused; the action beside it, carried out, mends it', async () => {
    refuses = true
    const { instance } = await world.bound('fpga-small')
    await page.waitForSelector('a:text("Nova has refused or missed the events")')
    await told('Nova has refused or missed the events', 'accelerando delivery resend INSTANCE --reason TEXT')
    await step('a:text("Nova has refused or missed the events")')
    await told('400 Nova finds the event malformed', 'accelerando delivery resend INSTANCE --reason TEXT')
    await page.waitForSelector(`main tbody :text("${instance}")`)
    await step('main tbody a:text("Tell Nova once more")')
    await told('It ignores what nobody waits for', `accelerando delivery resend ${instance} --reason TEXT`)
    refuses = false
    await page.fill('input[name=reason]', 'Nova knows the event now')
    await page.click('main form button')
    await page.waitForSelector('main:has-text("recorded under")')
    await page.goto(`${served.base}deliveries?state=undelivered`)
    await page.waitForSelector('main :text("Nothing is undelivered")')
  })
})
