/** Commands that go on until they are told to stop: what they say beside their result while a service is away. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'

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
    let asked = 0
    const { code, out, err } = await served(
      (_, response) => {
        if (++asked === 1) return response.writeHead(503).end('{"errors": [{"detail": "it starts"}]}')
        process.stdout.emit('error', new Error('EPIPE'))
        response.writeHead(200).end('{"counted_at": "2026-01-01"}')
      },
      ...['status', '--follow', '--format', 'jsonl'],
    )
    expect({ code, out, err }).toEqual({
      code: 0,
      out: '{"counted_at":"2026-01-01"}\n',
      err: 'GET /overview: 503 it starts; it is tried again\n',
    })
    expect(asked).toBe(2)
  })
})
