/** The Nova of the tour: a small server that accepts external events, so that the tour can show what Nova would get. */
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HeardEvent } from './tour.ts'

const BODY_MAX = 1024 * 1024

export const openTourNova = async () => {
  const heard: HeardEvent[] = []
  const server: Server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (part: string) => {
      text += part
      if (text.length > BODY_MAX) request.destroy()
    })
    request.on('end', () => {
      const { events } = JSON.parse(text) as { events: HeardEvent[] }
      heard.push(...events)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ events: events.map((event) => ({ ...event, code: 200 })) }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard: () => heard,
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}
