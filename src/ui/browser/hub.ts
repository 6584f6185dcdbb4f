/** Tells all pages of a browser what one stream of events says, and opens the stream again when it ends. */
import type { Happened } from './followStream.ts'

export type Said = Happened | 'closed'
type Port = { readonly postMessage: (said: Said) => void }

const FIRST_MS = 1000
const LONGEST_MS = 30_000
/** How long the stream is not opened after so many failures without a success. */
export const pauseMs = (failures: number): number => Math.min(FIRST_MS * 2 ** failures, LONGEST_MS)

export type Hub = {
  readonly tell: (what: Said) => void
  /** The page is told at once whether the stream is open, and from now on what the stream says. */
  readonly join: (port: Port) => void
}
export const createHub = (): Hub => {
  const ports: Port[] = []
  let said: Said = 'closed'
  return {
    tell: (what) => {
      if (what !== 'changed') said = what
      for (const port of ports) port.postMessage(what)
    },
    join: (port) => {
      ports.push(port)
      port.postMessage(said)
    },
  }
}

/** `follow`: ends with the stream, and rejects when there is none. Never ends. */
export const followForEver = async (
  follow: (tell: Hub['tell']) => Promise<void>,
  { tell }: Pick<Hub, 'tell'>,
  pause: (ms: number) => Promise<void>,
): Promise<never> => {
  let failures = 0
  for (;;) {
    await follow(tell).then(
      () => (failures = 0),
      () => (failures += 1),
    )
    tell('closed')
    await pause(pauseMs(failures))
  }
}
