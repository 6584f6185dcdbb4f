/** The flight recorder: the timeline of a request as of any moment, in any part, and from a file. */
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { handClock } from '../support/lab.ts'
import { service } from '../http/steps.ts'
import { type Lived, SAME, type UiWorld, createConsole, lived, openUiWorld, wordsOf } from './world.ts'

let world: UiWorld
let seen: Lived
beforeAll(async () => {
  const clock = handClock()
  world = await openUiWorld({ clock, pass: clock.pass })
  seen = await lived(world)
  // a moment lies between the order and the answer
  const failed = await world.begun('fpga-small')
  await clock.pass(1000)
  await world.answer(failed.order, { status: 'failed', reason: 'the card did not answer: link down', final: true })
  await clock.pass(1000)
  seen = { ...seen, failed }
})
afterAll(() => world.close())

type Step = { readonly at: string; readonly step: string; readonly detail: Readonly<Record<string, unknown>> }
type Timeline = { readonly arq: string; readonly steps: readonly Step[] }
const asOf = (at: string): string => `?${new URLSearchParams({ as_of: at }).toString()}`
type Ui = ReturnType<typeof createConsole>
const mainOf = (html: string): string => /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? html
const page = async (place: string, ui: Ui = createConsole(world), headers: Readonly<Record<string, string>> = {}) => {
  const answer = await ui.request(`/ui/${place}`, { headers })
  return { status: answer.status, html: mainOf(await answer.text()) }
}
const timelineOf = async (uuid: string): Promise<Timeline> =>
  (await createConsole(world).request(`/ui/arqs/${uuid}/timeline.json`)).json() as Promise<Timeline>
const stepsIn = (html: string): readonly string[] =>
  [...html.matchAll(/<tr id="step-\d+">(.*?)<\/tr>/gs)].map(([, row = '']) =>
    wordsOf([...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)][2]?.[1] ?? '').trim(),
  )
const lanesIn = (html: string): string => wordsOf(/<ol class="lanes"[\s\S]*?<\/ol>/.exec(html)?.[0] ?? '')

describe('as of a moment', () => {
  test('each step leads to the request as it was then: state, steps, exports and command, and nothing can be done', async () => {
    const { uuid } = seen.failed
    const { steps } = await timelineOf(uuid)
    const now = await page(`arqs/${uuid}`)
    for (const { at } of steps) expect(now.html).toContain(`href="arqs/${uuid}${asOf(at)}"`)
    const accepted = steps.find(({ step }) => step === 'bind accepted')!
    const { status, html } = await page(`arqs/${uuid}${asOf(accepted.at)}`)
    expect([status, stepsIn(html)]).toEqual([200, ['created', 'bind accepted']])
    expect(html).toContain('BindStarted')
    expect(html).not.toContain('link down')
    expect(wordsOf(html)).toMatch(/This is the past: the request as it was at \d{4}-\d\d-\d\d [\d:.]{12} UTC/)
    expect(html).toContain(`<a class="underlined" href="arqs/${uuid}">Back to now</a>`)
    expect(html).not.toContain('/do/')
    expect(html).toContain(`href="arqs/${uuid}/timeline.json${asOf(accepted.at)}"`)
    expect(html).toContain(`accelerando arq show ${uuid} --timeline --as-of ${accepted.at}`)
    const kept = await createConsole(world).request(`/ui/arqs/${uuid}/timeline.json${asOf(accepted.at)}`)
    expect(((await kept.json()) as Timeline).steps).toHaveLength(2)
  })
  test('a moment as the page shows it is understood, and one that is none is refused with its field and rule', async () => {
    const { uuid } = seen.failed
    const { steps } = await timelineOf(uuid)
    const { at } = steps[0]!
    const until = steps.filter((step) => step.at <= at).map(({ step }) => step)
    expect(until.length).toBeLessThan(steps.length)
    const shown = `${at.slice(0, 10)} ${at.slice(11, 23)} UTC`
    expect(stepsIn((await page(`arqs/${uuid}?as_of=${encodeURIComponent(shown)}`)).html)).toEqual(until)
    const bad = await page(`arqs/${uuid}?as_of=noon`)
    expect(bad.status).toBe(409)
    expect(wordsOf(bad.html)).toContain('as_of: it must be a day or a moment in UTC')
    expect(bad.html).toContain('value="noon"')
    expect(bad.html).toContain('Back to now')
    const early = await page(`arqs/${uuid}?as_of=2020-01-01`)
    expect([early.status, wordsOf(early.html)]).toEqual([404, expect.stringContaining('There is no such thing')])
    const late = await page(`arqs/${uuid}?as_of=2999-01-01`)
    expect([late.status, wordsOf(late.html)]).toEqual([200, expect.stringContaining('This moment is not past')])
    expect(stepsIn(late.html)).toEqual(stepsIn((await page(`arqs/${uuid}`)).html))
  })
  test('shows a project no more than the present does', async () => {
    const { uuid } = seen.failed
    const { steps } = await timelineOf(uuid)
    const headers = { cookie: 'accelerando-token=token-of-member' }
    const place = `arqs/${uuid}${asOf(steps.at(-1)!.at)}`
    const { status, html } = await page(place, createConsole(world, { tokens: true }), headers)
    expect([status, stepsIn(html)]).toEqual([404, []])
  })
})

describe('the address says how it is shown', () => {
  test('bars, table or both; the events folded or not; and nothing else counts', async () => {
    const has = async (query: string) => {
      const { html } = await page(`arqs/${seen.failed.uuid}${query}`)
      return [
        html.includes('class="lanes"'),
        html.includes('class="rows steps"'),
        /<details class="raw" open/.test(html),
      ]
    }
    expect(await has('')).toEqual([true, true, false])
    expect(await has('?t=table')).toEqual([false, true, false])
    expect(await has('?t=bars')).toEqual([true, false, false])
    expect(await has('?r=1')).toEqual([true, true, true])
    expect(await has('?t=x&r=2&open=a.-1.0&from=0')).toEqual([true, true, false])
  })
  test('the requests of an instance follow each other by keys', async () => {
    const both = { body: [{ name: 'two', groups: [{ 'resources:FPGA': '2' }] }] }
    await world.must(201, 'POST /v2/device_profiles', both)
    const { instance } = await world.begun('two')
    const { arqs } = (await world.must(200, `GET /v2/accelerator_requests?instance=${instance}`)).json
    const [one, two] = (arqs as readonly { uuid: string }[]).map((each) => each.uuid)
    const turns = async (of: string, query = '?t=table') =>
      [...(await page(`arqs/${of}${query}`)).html.matchAll(/href="([^"]*)" data-key="([[\]])"/g)].map(
        ([, href, key]) => [key, href],
      )
    expect(await turns(one!)).toEqual([[']', `arqs/${two}?t=table`]])
    expect(await turns(two!)).toEqual([['[', `arqs/${one}?t=table`]])
    // as they were, also when the instance has none of them any more
    const then = asOf((await timelineOf(one!)).steps.at(-1)!.at)
    await world.pass(1000)
    await world.must(204, `DELETE /v2/accelerator_requests?instance=${instance}`, { headers: service })
    expect(await turns(one!)).toEqual([])
    expect(await turns(one!, then)).toEqual([[']', `arqs/${two}${then}`]])
  })
})

const START = Date.parse('2026-11-24T00:00:00.000Z')
const at = (ms: number): string => new Date(START + ms).toISOString()
const step = (name: string, ms: number, detail: Readonly<Record<string, unknown>> = {}) => ({
  at: at(ms),
  step: name,
  took_ms: null,
  cause: null,
  request_id: null,
  detail,
  event: null,
})
const timeline = (...steps: readonly ReturnType<typeof step>[]) => ({
  arq: '00000000-0000-4000-8000-000000000001',
  project_id: 'p1',
  deleted: false,
  total_ms: 0,
  steps: [...steps],
})

/** What the page of a file with this timeline shows. */
const opened = async (given: Timeline, query = '') => {
  const body = new FormData()
  body.set('file', new File([JSON.stringify(given)], 'kept.json'))
  const answer = await createConsole(world).request(`/ui/timeline${query}`, { method: 'POST', body, headers: SAME })
  return mainOf(await answer.text())
}
/** The spans as they are drawn: the label of each, how wide it is, and whether it is drawn short or in full. */
const lanesOf = (html: string) =>
  html

    .slice(0, html.lastIndexOf('</li>'))
    .split('<li class="lane')
    .slice(1)
    .map((lane) => {
      const [, label = ''] = /<span class="lane-what"[^>]*>([^<]*)/.exec(lane) ?? []
      const [, x, width] = /<rect class="span[^>]* x="([\d.]+)%"[^>]* width="([\d.]+)%"/.exec(lane) ?? []
      return { label, x: Number(x), width: Number(width), gap: /drawn (short|in full)/.exec(lane)?.[1] ?? null }
    })

describe('a gap', () => {
  const LIFE = timeline(
    step('created', 0),
    step('bind accepted', 4000, { order: 4, host: 'h1' }),
    step('bound', 6000, { host_work_ms: 500 }),
    step('nova told: delivered', 6000),
    step('unbound', 3_606_000),
    step('deleted', 3_608_000),
  )
  const USED = { ...LIFE, deleted: true }
  it('longer than 5 s in which nobody works is drawn short; all else is in proportion', async () => {
    expect(lanesOf(await opened(USED)).map(({ width, gap }) => [gap, width])).toEqual([
      [null, 47],
      [null, 23.5],
      ['short', 6],
      [null, 23.5],
    ])
  })
  it('is drawn in full when it is opened, and closed again by the same link', async () => {
    const lanes = lanesOf(await opened(USED, '?open=4'))
    expect(lanes.map(({ gap }) => gap)).toEqual([null, null, 'in full', null])
    expect(lanes[2]!.width).toBeGreaterThan(99)
    const short = await opened({ ...USED, steps: [...USED.steps.slice(0, 5), step('deleted', 3_700_000)] })
    expect(short).toContain('href="timeline?open=4"')
    expect(wordsOf(short)).toContain('Bars with two strokes are drawn short: 1 h 1 min in which nobody worked')
    expect(short).toContain('href="timeline?open=4.5"')
    const full = await opened(USED, '?open=4')
    expect(wordsOf(full)).toContain('All bars are as long as their time.')
  })
  it('never hides work, and many of them have at most half of the width', async () => {
    const slow = [step('bind accepted', 0, { order: 1, host: 'h' }), step('bound', 90_000)]
    expect(lanesOf(await opened(timeline(...slow)))[0]).toMatchObject({ gap: null, width: 100 })
    const many = Array.from({ length: 40 }, (_, turn) => step('unbound', turn * 10_000))
    const lanes = lanesOf(await opened(timeline(step('bind accepted', -1000, { order: 1, host: 'h' }), ...many)))
    const short = lanes.filter(({ gap }) => gap === 'short').reduce((sum, { width }) => sum + width, 0)
    expect(Math.round(short)).toBe(50)
  })
})

describe('a wait', () => {
  it('for the next attempt at Nova is apart from the attempt, by the recorded moment of it', async () => {
    const steps = [
      step('bound', 0),
      step('nova to be told', 0),
      step('nova not reached, will be told again', 100, { next_at: at(1100) }),
      step('nova not reached, will be told again', 1300, { next_at: at(3300) }),
      step('nova told: delivered', 3500),
    ]
    const shown = wordsOf(await opened(timeline(...steps)))
    expect(shown).toMatch(/tells Nova 100.ms/)
    expect(shown).toMatch(/not reached, waits for the next attempt 1\.00.s .*tells Nova again 200.ms/)
    expect(shown).toMatch(/not reached, waits for the next attempt 2\.00.s .*tells Nova again 200.ms/)
  })
  it('for a host and its queue is told beside the work of the host, as one sum: no event tells more', async () => {
    const note = async (workMs: number) =>
      wordsOf(
        await opened(
          timeline(
            step('bind accepted', 0, { order: 4, host: 'h1' }),
            step('prepared on the host', 1000),
            step('bound', 1500, { host_work_ms: workMs }),
          ),
        ),
      )
    expect(await note(240)).toContain('order 4, 240 ms of it on the host, 760 ms on the way and waiting')
    // by another clock
    expect(await note(1000)).toMatch(/order 4, 1\.00 s of it on the host \s*1/)
  })
  it('for an image is said to be that', async () => {
    const asked = ['bind accepted', 'image asked for'].map((name) =>
      step(name, 0, { order: 4, host: 'h1', image: 'i' }),
    )
    const failed = step('bind failed', 500, { code: 'host_failed' })
    const shown = wordsOf(await opened(timeline(...asked, failed)))
    expect(shown).toMatch(/h1 loads the image and prepares the device · order 4: host_failed/)
  })
})

test('a long timeline is shown in parts, the last one first, which lead from one to the next', async () => {
  const long = timeline(...Array.from({ length: 1201 }, (_, turn) => step('unbound', turn)))
  const parts = async (query: string) => /Steps \d+ to [\d ]+ of [\d ]*\d/.exec(wordsOf(await opened(long, query)))?.[0]
  expect(await parts('')).toBe('Steps 702 to 1 201 of 1 201')
  expect(await parts('?from=2')).toBe('Steps 2 to 501 of 1 201')
  expect(await parts('?from=9999')).toBe('Steps 702 to 1 201 of 1 201')
  const html = await opened(long, '?from=602')
  expect(stepsIn(html)).toHaveLength(500)
  expect(html).toContain('href="timeline?from=102"')
  expect(html).toContain('href="timeline?from=1102"')
})

describe('a file', () => {
  const sent = async (file: File | string | null, ui: Ui = createConsole(world)) => {
    const body = new FormData()
    if (file !== null) body.set('file', file)
    const answer = await ui.request('/ui/timeline', { method: 'POST', body, headers: SAME })
    return { status: answer.status, html: mainOf(await answer.text()), answer }
  }
  const named = (text: string, name = 'kept.json') => new File([text], name, { type: 'application/json' })

  test('that the page of a request has exported shows the same steps and bars, also while no API answers', async () => {
    const kept = await createConsole(world).request(`/ui/arqs/${seen.failed.uuid}/timeline.json`)
    const text = await kept.text()
    const whole = JSON.parse(text) as Timeline
    const shown = (await page(`arqs/${seen.failed.uuid}${asOf(whole.steps.at(-1)!.at)}`)).html
    const { status, html } = await sent(named(text))
    expect([status, stepsIn(html)]).toEqual([200, stepsIn(shown)])
    expect(lanesIn(html)).toBe(lanesIn(shown))
    expect(html).toContain('Timeline in kept.json')
    expect(wordsOf(html)).toContain('The bind failed after')
    const asked: string[] = []
    const ui = createConsole(world, { fetch: ({ url }) => void asked.push(new URL(url).pathname) })
    await sent(named(text), ui)
    expect(asked).toEqual(['/v2/permissions'])
  })
  const GOOD = timeline(step('created', 0))
  it.each<[string, unknown, string]>([
    ['is no JSON', '{"arq": ', 'The file kept.json cannot be opened. It is not JSON: '],
    ['is a list', [], 'arq: '],
    ['is about something else', { hosts: [] }, 'arq: '],
    ['has a step without a name', { ...GOOD, steps: [{ ...GOOD.steps[0], step: 7 }] }, 'steps.0.step: '],
    ['has no steps', { ...GOOD, steps: [] }, 'steps: there must be at least one'],
    [
      'has a step at no moment',
      { ...GOOD, steps: [{ ...GOOD.steps[0], at: 'noon' }] },
      'steps.0.at: it must be a moment',
    ],
    [
      'has a deadline that is none',
      timeline(step('created', 0), step('bind accepted', 1, { deadline: 'soon' })),
      'steps.1.detail.deadline: it must be a moment',
    ],
    ['names no request', { ...GOOD, arq: '../hosts' }, 'arq: it must be a UUID'],
    ['is for trace viewers', { traceEvents: [] }, 'It is the form for trace viewers'],
    [
      'has too many steps',
      timeline(...Array.from({ length: 5001 }, (_, turn) => step('unbound', turn))),
      'steps: at most 5000 are shown; these are 5001',
    ],
  ])('that %s is refused with the field and the rule', async (_, given, why) => {
    const { status, html } = await sent(named(typeof given === 'string' ? given : JSON.stringify(given)))
    expect(status).toBe(400)
    expect(wordsOf(html)).toContain(why)
    expect(html).toContain('type="file"')
  })
  test('that is none, or larger than what is read, is refused on the page', async () => {
    for (const nothing of [null, 'text', named('', '')])
      expect(wordsOf((await sent(nothing)).html)).toContain('file: choose the file that is to be opened')
    const { status, html } = await sent(named(`{"arq": "${'x'.repeat(4 * 1024 * 1024 + 9000)}"}`))
    expect([status, wordsOf(html)]).toEqual([413, expect.stringContaining('file: it is larger than 4 MiB')])
  })
  test('is shown as text, and to people who are signed in', async () => {
    const evil = '</script><img src=x onerror=alert(1)>'
    const { html } = await sent(named(JSON.stringify(timeline(step(evil, 0, { [evil]: evil, host: evil }))), evil))
    expect(html).not.toContain('<img')
    const { answer } = await sent(named(JSON.stringify(GOOD)), createConsole(world, { tokens: true }))
    expect([answer.status, answer.headers.get('location')]).toEqual([303, 'sign-in?back=timeline'])
  })
})

test('the export for trace viewers ends with the moment that the page shows', async () => {
  const { uuid } = seen.failed
  const { steps } = await timelineOf(uuid)
  const ask = async (query: string) =>
    (await (await createConsole(world).request(`/ui/arqs/${uuid}/trace-events.json${query}`)).json()) as {
      traceEvents: readonly { ph: string; cat?: string }[]
    }
  const then = asOf(steps[1]!.at)
  expect((await ask(then)).traceEvents.filter(({ ph }) => ph === 'i').length).toBeLessThan(steps.length)
  expect((await ask('')).traceEvents.filter((each) => each.ph === 'i' && each.cat === 'step')).toHaveLength(
    steps.length,
  )
  const missing = await createConsole(world).request(`/ui/arqs/${uuid}/trace-events.json?as_of=noon`)
  expect([missing.status, await missing.json()]).toEqual([409, expect.objectContaining({ kind: 'refused' })])
})
