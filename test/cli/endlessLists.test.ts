/** Commands that go on until they are told to stop: after how many rows they end, and what they say beside the rows. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KafkaBus, kafkaBus } from '../../src/bus/kafka/bus.ts'
import { systemClock } from '../../src/clock.ts'
import { silent } from '../../src/log.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { commandHere } from '../support/commandHere.ts'
import { optionsOf } from '../support/kafkaLab.ts'

describe('messages of a topic', () => {
  const TOPIC = 'arq.events.v1'
  let broker: ScriptedBroker
  let bus: KafkaBus
  beforeAll(async () => {
    broker = await scriptedBroker()
    broker.topics.make(TOPIC, 1)
    bus = kafkaBus({ options: optionsOf(broker), clock: systemClock, log: silent })
    for (const [n, key] of ['one', 'two', 'three'].entries()) {
      const value = JSON.stringify({
        specversion: '1.0',
        id: key,
        source: '/test',
        type: 'accelerando.arq.Noted',
        time: '2026-01-01T00:00:00.000Z',
        datacontenttype: 'application/json',
        position: `${n + 1}.1`,
        data: {},
      })
      await bus.publish([{ topic: TOPIC, key, headers: {}, value }])
    }
  })
  afterAll(async () => {
    await bus.stop()
    await broker.stop()
  })
  test.each([
    ['2', 'one\ntwo\n'],
    ['3', 'one\ntwo\nthree\n'],
  ])('with --limit %s it ends by itself', async (limit, out) => {
    const env = { ACCELERANDO_KAFKA_BROKERS: broker.address, ACCELERANDO_LOG_LEVEL: 'silent' }
    const asked = ['tail', 'arq.events', '--since', '0', '--limit', limit, '-f', 'value', '-c', 'key']
    expect(await commandHere(asked, env)).toEqual({ code: 0, out, err: '' })
  })
})

describe('a service that is away', () => {
  const served = async (listener: RequestListener, ...args: readonly string[]) => {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
    try {
      return await commandHere([...args, '--api', api])
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }
  test('is told on standard error, and the events go on when it is back', async () => {
    let asked = 0
    const event = { id: 'e1', data: { entity: 'arq/a1' } }
    const { code, out, err } = await served(
      (_, response) => {
        if (++asked === 1) return response.writeHead(503).end('{"errors": [{"detail": "it\\u001b starts"}]}')
        const data = JSON.stringify(event)
        response.writeHead(200).write(`id: 1-1-aa\nevent: accelerando.fact.ArqCreated\ndata: ${data}\n\n`)
      },
      ...['event', '--follow', '--limit', '1', '-f', 'value', '-c', 'id', '-c', 'entity'],
    )
    expect({ code, out, err }).toEqual({
      code: 0,
      out: '1-1-aa\tarq/a1\n',
      // without what a terminal would take for a command
      err: 'GET /events?: 503 it  starts; it is tried again\n',
    })
  })
  test('is told on standard error, and the status goes on until its reader has gone', async () => {
    const { code, out, err } = await served(
      (_, response) => {
        response.writeHead(503).end('{"errors": [{"detail": "it starts"}]}')
        process.stdout.emit('error', new Error('EPIPE'))
      },
      ...['status', '--follow'],
    )
    expect({ code, out, err }).toEqual({ code: 0, out: '', err: 'GET /overview: 503 it starts; it is tried again\n' })
  })
})
