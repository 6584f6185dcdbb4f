/** What the kernel says of a process and of the machine. Linux only, as the figures are. */
import { readFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const TICK_MS = 10

/** Own time, then that of children that have ended; each as user and system. */
const timesOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 15).map(Number)

/** CPU time the process has used, its threads included. */
export const cpuMs = (pid: number): number => {
  const [user = 0, system = 0] = timesOf(pid)
  return (user + system) * TICK_MS
}

/** Of a process and those it started itself, as a database server does for each session. */
export const familyCpuMs = (pid: number): number => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  const own = timesOf(pid).reduce((sum, ticks) => sum + ticks * TICK_MS, 0)
  return children.map(Number).reduce((sum, one) => {
    try {
      return sum + cpuMs(one)
    } catch {
      return sum // it ended in between
    }
  }, own)
}

export type Memory = { readonly residentMb: number; readonly peakMb: number }
export const memoryOf = (pid: number): Memory => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mb = (name: string): number => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)![1]) / 1024)
  return { residentMb: mb('VmRSS'), peakMb: mb('VmHWM') }
}

const LOOK_MS = 150
/** Waits until the process does next to nothing, bounded. */
export const quiet = async (pid: number, waitMs = 60_000): Promise<void> => {
  const end = Date.now() + waitMs
  let calm = 0
  for (let before = cpuMs(pid); calm < 2 && Date.now() < end;) {
    await sleep(LOOK_MS)
    const now = cpuMs(pid)
    calm = now - before <= LOOK_MS / 5 ? calm + 1 : 0
    before = now
  }
}

export const machine = (): string => {
  const [first] = cpus()
  return `${cpus().length} x ${first?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux, Node ${process.versions.node}`
}
export const load = (): string =>
  loadavg()
    .map((one) => one.toFixed(2))
    .join(' ')
