/**
 * A client of streams of events that comes back at another control whenever its connection ends, and notes all it is
 * told.
 */
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const AGAIN_MS = 100

/** `origins`: the controls, asked one after the other, beginning with number `first`. */
export const streamClient = (origins: readonly string[], first: number) => {
  const told: string[] = []
  const ids = new Set<string>()
  const counts = { connections: 0, repeats: 0, resets: 0, byes: 0 }
  let [last, text, turn, over] = ['0', '', first, false]
  let socket: IncomingMessage | null = null
  const take = (frame: string): void => {
    const fields = new Map(
      frame.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
    )
    const [id, event, data] = [fields.get('id'), fields.get('event'), fields.get('data')]
    if (id !== undefined) last = id
    if (event === 'reset') counts.resets++
    if (event === 'bye') counts.byes++
    if (!event?.startsWith('accelerando.')) return
    if (ids.has(id!)) counts.repeats++
    ids.add(id!)
    told.push(data!)
  }
  const once = async (origin: string): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const headers = { accept: 'text/event-stream', 'last-event-id': last }
    const asked = request(`${origin}/v2/events`, { headers }, (answer) => {
      if (answer.statusCode !== 200) return void answer.resume().on('close', resolve)
      counts.connections++
      text = ''
      socket = answer
      answer.setEncoding('utf8').on('data', (part: string) => {
        const frames = (text + part).split('\n\n')
        text = frames.pop()!
        for (const frame of frames) take(frame)
      })
      answer.on('error', () => resolve()).on('close', () => resolve())
    })
    asked.on('error', () => resolve()).end()
    await promise
    socket = null
  }
  const run = async (): Promise<void> => {
    while (!over) {
      await once(origins[turn++ % origins.length]!)
      await sleep(AGAIN_MS)
    }
  }
  const running = run()
  return {
    told,
    counts,
    stopReading: () => void socket?.pause(),
    goOn: () => void socket?.resume(),
    isOpen: () => socket !== null,
    end: async () => {
      over = true
      socket?.destroy()
      await running
    },
  }
}
