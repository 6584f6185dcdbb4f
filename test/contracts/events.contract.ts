/**
 * What streams of events promise over every store: no gap, no repeat, the same order and the same ids on every control.
 */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { EventPage } from '../../src/actors/events.ts'
import type { Store } from '../../src/persistence/store.ts'
import { OPERATOR, follow, ofProject, published, createEvents, valueOf, createWriter } from '../delivery/eventsLab.ts'

export type Opened = {
  /** Two processes over one journal; over an embedded store both are the same one. */
  readonly stores: readonly [Store, Store]
  readonly dispose: () => Promise<unknown>
}
const LATER = 8_000_000_000_000
const event = (type: string, more: object = {}): { readonly type: string } => ({ type, ...more })

const openBy = (open: () => Promise<Opened>) => async () => {
  const { stores, dispose } = await open()
  const controls = [createEvents(stores[0]), createEvents(stores[1])] as const
  const close = async () => {
    for (const control of controls) control.stop()
    await dispose()
  }
  return { store: stores[0], controls, ...createWriter(stores[0]), close }
}

export const eventsContract = (open: () => Promise<Opened>): void => {
  const opened = openBy(open)

  test('a stream tells what is written from then on, as the relay publishes it', async () => {
    const { store, controls, create, write, close } = await opened()
    await create('p1')
    const client = await follow(controls[0])
    expect(await client.take()).toMatchObject({ kind: 'beat' })
    const arq = await create('p1')
    await write([`arq/${arq}`, event('Bound', { workMs: 3 })], [`device/${randomUUID()}`, event('Seen'), event('Seen')])
    const received = await client.takeUntil(4)
    expect(received.map(({ text }) => text)).toEqual((await published(store)).slice(1))
    expect(received.map(({ type }) => type)).toEqual(
      ['ArqCreated', 'Bound', 'Seen', 'Seen'].map((t) => `accelerando.fact.${t}`),
    )
    expect(new Set(received.map(({ id }) => id)).size).toBe(4)
    await close()
  })
  test('a client that is cut after every event goes on at another control: no gap, no repeat', async () => {
    const { store, controls, create, write, close } = await opened()
    const began = await follow(controls[1])
    await began.take()
    const arq = await create('p1')
    for (let n = 0; n < 6; n++) await write([`arq/${arq}`, event('Bound'), event('Unbound'), event('Bound')])
    const all = await began.takeUntil(19)
    const received: string[] = []
    let after = began.others[0]!.kind === 'beat' ? began.others[0]!.id : null
    for (let n = 0; received.length < 19; n++) {
      const client = await follow(controls[n % 2 === 0 ? 0 : 1], after)
      const [first] = await client.takeUntil(1)
      client.stream.close('left')
      received.push(first!.text)
      after = first!.id
    }
    expect(received).toEqual(await published(store))
    expect(all.map(({ text }) => text)).toEqual(received)
    await close()
  })
  test('a stream that begins far back reads the journal up to what is told now', async () => {
    const { store, controls, create, close } = await opened()
    for (let n = 0; n < 250; n++) await create('p1')
    const client = await follow(controls[0], '0')
    await client.takeUntil(250)
    await create('p2')
    await client.takeUntil(251)
    expect(client.received.map(({ text }) => text)).toEqual(await published(store))
    expect(client.others.filter(({ kind }) => kind !== 'beat')).toEqual([])
    await close()
  })
  test('a place in the archive, of another journal or of none is answered with a reset, and the stream goes on', async () => {
    const { store, controls, create, write, close } = await opened()
    const before = await follow(controls[0])
    await before.take()
    const arq = await create('p1')
    await write([`arq/${arq}`, event('ArqRemoved')])
    const [first, second] = await before.takeUntil(2)
    await store.journal.saveCheckpoint('relay', await store.journalEnd())
    await store.archiveEnded({ before: LATER, limit: 100 })
    const late = await follow(controls[1], first!.id)
    const newest = second!.id
    expect(await late.take()).toEqual({ kind: 'reset', why: 'archived', oldest: newest, id: newest })
    expect(valueOf(await controls[0].page(OPERATOR, { after: newest, filter: {} }, 10)).events).toEqual([])
    expect(await controls[0].page(OPERATOR, { after: first!.id, filter: {} }, 10)).toMatchObject({
      fault: { kind: 'conflict', reason: 'events after this one are in the archive' },
    })
    const [position] = newest.split('-')
    for (const id of [`${position}-1-000000000000`, '999999999999.1-1-000000000000', '99-1-000000000000']) {
      const lost = await follow(controls[0], id)
      expect(await lost.take()).toEqual({ kind: 'reset', why: 'unknown', oldest: newest, id: newest })
      lost.stream.close('left')
      expect(await controls[0].page(OPERATOR, { after: id, filter: {} }, 10)).toMatchObject({
        fault: { kind: 'conflict' },
      })
    }
    await create('p1')
    expect(await late.takeUntil(1)).toHaveLength(1)
    const present = await follow(controls[0], newest)
    expect((await present.takeUntil(1)).map(({ id }) => id)).toEqual([late.received[0]!.id])
    expect(present.others).toMatchObject([{ kind: 'beat', id: newest }])
    await close()
  })
  test('a project is told of its own accelerator requests, without the words of drivers and operators', async () => {
    const { controls, create, write, close } = await opened()
    const [own, foreign, instance] = [await create('p1'), await create('p2'), randomUUID()]
    const client = await follow(controls[1], null, { caller: ofProject('p1') })
    const operator = await follow(controls[0])
    await Promise.all([client.take(), operator.take()])
    await write(
      [`arq/${foreign}`, event('Bound', { workMs: 1 })],
      [`arq/${own}`, event('BindFailed', { reason: 'secret' })],
    )
    await write([
      `instance/${instance}`,
      event('BindSettled', { outcome: 'failed', arqs: [own], reason: 'secret', tell: 1 }),
    ])
    await write([
      `instance/${instance}`,
      event('BindSettled', { outcome: 'failed', arqs: [own, foreign], reason: null }),
    ])
    await write([`host/h1`, event('HostSeen')], [`arq/${own}`, event('SomethingNew', { projectId: 'p1' })])
    await write([`arq/${own}`, event('Released')])
    expect((await operator.takeUntil(7)).filter(({ text }) => text.includes('secret'))).toHaveLength(2)
    const received = await client.takeUntil(3)
    expect(received.map(({ type }) => type.split('.')[2])).toEqual(['BindFailed', 'BindSettled', 'Released'])
    expect(JSON.stringify(received)).not.toContain('secret')
    expect(JSON.stringify(received)).not.toContain(foreign)
    expect(received.map(({ id }) => id)).toEqual([1, 2, 6].map((at) => operator.received[at]!.id))
    await close()
  })
  test('filters select, and a beat takes a client past what it is not shown', async () => {
    const { controls, create, write, close } = await opened()
    const host = await follow(controls[0], null, { filter: { hosts: ['h1'], kinds: ['host', 'arq'] } })
    const types = await follow(controls[0], null, { filter: { types: ['Bound', 'accelerando.fact.HostSeen'] } })
    await Promise.all([host.take(), types.take()])
    const arq = await create('p1')
    await write(
      [`arq/${arq}`, event('BindStarted', { projectId: null, bond: { host: 'h1', instanceUuid: 'i1' } })],
      ['host/h1', event('HostSeen')],
      ['host/h2', event('HostSeen')],
    )
    await write([`arq/${arq}`, event('Bound')])
    expect((await host.takeUntil(2)).map(({ type }) => type.split('.')[2])).toEqual(['BindStarted', 'HostSeen'])
    expect((await types.takeUntil(3)).map(({ type }) => type.split('.')[2])).toEqual(['HostSeen', 'HostSeen', 'Bound'])
    expect(await host.take()).toMatchObject({ kind: 'beat', id: types.last() })
    const filter = { projects: ['p1'], subjects: [arq], instances: ['i1'] }
    const { events } = valueOf(await controls[1].page(OPERATOR, { after: null, filter }, 10))
    expect(events.map(({ type }) => type.split('.')[2])).toEqual(['BindStarted'])
    await close()
  })
  test('what was recorded under one request is found by its id, and by a project only what is its own', async () => {
    const { store, controls, create, close } = await opened()
    await create('p1')
    const asked = createWriter(store, 'req-2')
    const [own, foreign] = [await asked.create('p1'), await asked.create('p2')]
    await createWriter(store, 'req-3').create('p1')
    const [control] = controls
    const subjects = async (caller: typeof OPERATOR, ...requests: readonly string[]) => {
      const { events } = valueOf(await control.page(caller, { after: null, filter: { requests } }, 10))
      return events.map(({ text }) => (JSON.parse(text) as { subject: string }).subject)
    }
    expect(await subjects(OPERATOR, 'req-2')).toEqual([own, foreign])
    expect(await subjects(ofProject('p1'), 'req-2')).toEqual([own])
    expect(await subjects(OPERATOR, 'req-4', 'req-2')).toEqual([own, foreign])
    expect(await subjects(OPERATOR, 'req')).toEqual([])
    const client = await follow(controls[1], null, { filter: { requests: ['req-5'] } })
    await client.take()
    await create('p1')
    const arq = await createWriter(store, 'req-5').create('p1')
    expect((await client.takeUntil(1))[0]!.text).toContain(arq)
    await close()
  })
  test('pages of any size put together are the journal', async () => {
    const { store, controls, create, write, close } = await opened()
    const arq = await create('p1')
    for (let n = 0; n < 7; n++) await write([`arq/${arq}`, event('Bound'), event('Unbound')])
    for (const limit of [1, 2, 4, 100]) {
      const texts: string[] = []
      for (let after: string | null = null; ;) {
        const page: EventPage = valueOf(await controls[0].page(OPERATOR, { after, filter: {} }, limit))
        texts.push(...page.events.map(({ text }) => text))
        after = page.next
        if (!page.more) break
      }
      expect(texts).toEqual(await published(store))
    }
    await close()
  })
  test('several writers at once: every stream has the order of the feed', async () => {
    const { store, controls, close } = await opened()
    const clients = await Promise.all([follow(controls[0]), follow(controls[1]), follow(controls[1])])
    for (const client of clients) await client.take()
    const writers = Array.from({ length: 5 }, () => createWriter(store))
    await Promise.all(
      writers.map(async ({ create }) => {
        for (let n = 0; n < 20; n++) await create('p1')
      }),
    )
    const expected = await published(store)
    for (const client of clients) expect((await client.takeUntil(100)).map(({ text }) => text)).toEqual(expected)
    await close()
  })
}
