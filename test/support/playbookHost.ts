/** The playbooks of a host on the real disk of this machine, with a clock that advances only on request. */
import { join } from 'node:path'
import { programAt } from '../../src/cli/programs/programAt.ts'
import { realHostIo, runTailed } from '../../src/drivers/hostIo.ts'
import { fileDisk } from '../../src/host/disk.ts'
import { type PlaybookTools, type PreparedBy, Playbooks } from '../../src/host/playbooks.ts'
import type { PlaybookRun } from '../../src/wire/playbooks.ts'
import { handClock, memoryLog, until } from './lab.ts'

export type PlaybookStart = Partial<Pick<PlaybookTools, 'limitMs' | 'run' | 'programAt'>> & {
  /** What the host keeps. */
  readonly folder: string
  readonly dir: string
  readonly program: string
  readonly drivers: readonly string[]
  readonly preparedBy?: PreparedBy
  /** The id of the machine's start; absent: that of this machine. */
  readonly bootId?: string
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id'

export const openPlaybookHost = async ({ folder, drivers, preparedBy = () => 0, bootId, ...given }: PlaybookStart) => {
  const clock = handClock()
  const log = memoryLog()
  const io = realHostIo({ hostname: 'h1', stateDir: join(folder, 'drivers'), warn: () => {} })
  const tools = {
    limitMs: 60_000,
    environment: process.env,
    programAt: (name: string) => programAt(name, process.env['PATH'] ?? ''),
    run: runTailed,
    killAged: io.locks.killAged,
    ...given,
  }
  const playbooks = await Playbooks.open({
    tools,
    host: 'h1',
    drivers,
    stateDir: folder,
    io: {
      list: io.list,
      head: io.head,
      read: async (path) => (path === BOOT_ID && bootId !== undefined ? bootId : io.read(path)),
    },
    disk: fileDisk,
    clock,
    log,
  })
  playbooks.start(preparedBy, () => {})
  return {
    clock,
    log,
    lastRuns: () => playbooks.lastRuns(),
    heldBack: playbooks.heldBack,
    stop: () => playbooks.stop(),
  }
}
export type PlaybookHost = Awaited<ReturnType<typeof openPlaybookHost>>

const PATIENCE_MS = 60_000
const isEnd = (message: string): boolean => message === 'playbook.done' || message === 'playbook.failed'
/** What is told when so many runs have ended. */
export const endsOf = async (host: PlaybookHost, count: number): Promise<readonly PlaybookRun[]> => {
  await until(() => host.log.said.filter(({ message }) => isEnd(message)).length >= count, 'the playbooks', PATIENCE_MS)
  const lastRuns = host.lastRuns()!
  const isTriedAgain = () => host.log.said.at(-1)?.message === 'playbooks.again'
  if (lastRuns.some(({ status }) => status === 'failed')) await until(isTriedAgain, 'the pause', PATIENCE_MS)
  return lastRuns
}
