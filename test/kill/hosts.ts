/**
 * The folders of the simulated hosts: used to inject hardware faults, and to read which orders a host is working on.
 */
import { type FSWatcher, mkdirSync, readFileSync, readdirSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** ARQs by the state of their prepare order in the host's ledger. */
export type InHand = { readonly working: ReadonlySet<string>; readonly done: ReadonlySet<string> }
export type Hosts = {
  readonly inject: (host: string, faults: object) => void
  readonly read: () => InHand
  /** Calls back shortly after a ledger shows that another preparation is done. */
  readonly onDone: (listener: (arq: string) => void) => () => void
}
type Entry = { readonly slot: string; readonly type: string; readonly state: string; readonly arq?: string }

const linesOf = (path: string): readonly string[] => {
  try {
    // Behind the last line end stands what was not written to its end.
    return readFileSync(path, 'utf8').split('\n').slice(1, -1)
  } catch (error) {
    // A host that has not been given an order has no ledger yet.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Of each slot the last line counts. */
const lastEntries = (lines: readonly string[]): readonly Entry[] => {
  const entries = lines.map((line) => JSON.parse(line) as Entry)
  return [...new Map(entries.map((entry) => [entry.slot, entry])).values()]
}

/** So many lines at the end are looked at, when it has to be quick. */
const TAIL = 40

export const hostsIn = (data: string, names: readonly string[]): Hosts => {
  const folder = (name: string) => join(data, 'hosts', name)
  const read = (tail = Infinity): InHand => {
    const entries = names.flatMap((name) => lastEntries(linesOf(join(folder(name), 'ledger.jsonl')).slice(-tail)))
    const arqsIn = (wanted: string) =>
      new Set(
        entries.flatMap(({ type, state, arq }) => (type === 'PrepareSlot' && state === wanted && arq ? [arq] : [])),
      )
    return { working: arqsIn('in-hand'), done: arqsIn('done') }
  }
  return {
    inject: (host, faults) => {
      mkdirSync(join(folder(host), 'drivers'), { recursive: true })
      writeFileSync(join(folder(host), 'drivers', 'faults.json'), JSON.stringify(faults))
    },
    read: () => read(),
    onDone: (listener) => {
      const known = new Set(read().done)
      const look = () => {
        for (const arq of read(TAIL).done) {
          if (known.has(arq)) continue
          known.add(arq)
          listener(arq)
        }
      }
      const watchers: readonly FSWatcher[] = names
        .filter((name) => readdirSync(join(data, 'hosts')).includes(name))
        .map((name) => watch(folder(name), look))
      return () => watchers.forEach((watcher) => watcher.close())
    },
  }
}
