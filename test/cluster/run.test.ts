/** `npm run cluster`, as whoever tries it out sees it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { isRunning } from '../../infra/cluster/part.ts'
import { clientOf } from '../e2e/client.ts'
import { type Part as NeededPart, describeWith } from '../support/needs.ts'
import { tempFolder } from '../support/program.ts'

const RUN = fileURLToPath(new URL('../../infra/cluster/run.ts', import.meta.url))
const LONG = 120_000
const folder = tempFolder('run')
// PostgreSQL, which does not run as root, has to get in.
chmodSync(folder.path, 0o755)
const data = ['--data', join(folder.path, 'cluster')]

const runs: { readonly child: ChildProcess; readonly ended: Promise<unknown> }[] = []

const started = (...args: readonly string[]) => {
  const child: ChildProcess = spawn(process.execPath, [RUN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve))
  const said = async (line: RegExp): Promise<RegExpExecArray> => {
    const end = performance.now() + LONG
    while (!line.test(text)) {
      if (performance.now() > end || child.exitCode !== null) throw new Error(`no ${line}; it said:\n${text}`)
      await sleep(20)
    }
    return line.exec(text)!
  }
  runs.push({ child, ended })
  return { child, said, ended, text: () => text }
}
afterAll(async () => {
  for (const { child } of runs) if (child.exitCode === null) child.kill('SIGTERM')
  await Promise.all(runs.map(({ ended }) => ended))
  folder.remove()
}, LONG)

test('what it cannot do is told in a sentence', async () => {
  for (const [args, sentence] of [
    [['--controls', '0'], /^cluster: --controls must be a whole number from 1 to 16$/m],
    [['--listen', '0.0.0.0:1'], /^cluster: --listen must be HOST:PORT of this machine alone/m],
  ] as const) {
    const run = started(...data, ...args)
    expect(await run.ended).toBe(1)
    expect(run.text()).toMatch(sentence)
  }
})

/** Then PostgreSQL runs as another user. */
const root: NeededPart = {
  name: 'root',
  installable: false,
  find: () => (process.getuid?.() === 0 ? { at: '/' } : { lacking: 'these tests do not run as root' }),
}
/** Processes that name the folder: servers, and whatever starts or stops them. */
const runningIn = (path: string): readonly string[] =>
  execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(path) && !line.includes(RUN) && !/defunct/.test(line))

describeWith('postgres', 'with a database', () =>
  describeWith('kafka', 'and a broker', () => {
    const failing = async (name: string, prepare: (path: string) => string) => {
      const path = join(folder.path, name)
      mkdirSync(path, { mode: 0o755 })
      const within = prepare(path)
      const run = started('--data', within, '--listen', '127.0.0.1:0')
      const code = await run.ended
      // the shell that would have stopped the servers, had this program been killed, ends a moment after it
      await expect.poll(() => runningIn(path), { timeout: 10_000 }).toEqual([])
      return { code, text: run.text(), path }
    }

    describeWith(root, 'as root', () =>
      test(
        'a folder that user postgres may not enter is named with what to do, and the broker does not stay',
        async () => {
          const { code, text, path } = await failing('closed', (closed) => {
            chmodSync(closed, 0o700)
            return join(closed, 'cluster')
          })
          expect(code).toBe(1)
          expect(text).toContain(
            `cluster: postgres did not start: user postgres, as whom PostgreSQL runs here, may not enter ${path}\n` +
              `  what to do: chmod o+x ${path}, or name another folder with --data\n`,
          )
        },
        LONG,
      ),
    )

    test(
      'a broker that does not start is told with its log, and the database does not stay',
      async () => {
        const { code, text, path } = await failing('broken', (broken) => {
          mkdirSync(join(broken, 'kafka/1/data'), { recursive: true })
          writeFileSync(join(broken, 'kafka/1/data/meta.properties'), 'nonsense\n')
          return broken
        })
        expect(code).toBe(1)
        expect(text).toMatch(/^cluster: kafka did not start: kafka: node 1 did not become ready/m)
        expect(text).toMatch(/^ {2}java\.lang\.RuntimeException: Error: node ID not found/m)
        expect(text).toContain(`or remove ${path}/kafka, and the next start creates an empty broker`)
      },
      LONG,
    )

    test(
      'one that is told to end while its servers start leaves none of them',
      async () => {
        const path = join(folder.path, 'early')
        mkdirSync(path, { mode: 0o755 })
        const run = started('--data', path, '--listen', '127.0.0.1:0')
        await run.said(/^kafka +starting/m)
        while (!runningIn(path).some((line) => line.includes('kafka.Kafka'))) await sleep(10)
        run.child.kill('SIGHUP')
        expect(await run.ended).toBe(0)
        // the shell that would have stopped the servers ends a moment after the program
        await expect.poll(() => runningIn(path), { timeout: 10_000 }).toEqual([])
      },
      LONG,
    )

    test(
      'one on a folder; who is killed is started again, the load balancer goes round it, and one signal ends all',
      async () => {
        const run = started(...data, '--listen', '127.0.0.1:0', '--controls', '2', '--hosts', '1')
        const [, base] = await run.said(/^ready (http:\S+\/v2) /m)
        const pidOf = (name: string) => Number(new RegExp(`^${name} +ready +pid (\\d+)`, 'm').exec(run.text())![1])
        const pids = ['postgres', 'kafka', 'control-1', 'control-2', 'compute1'].map(pidOf)
        expect(await started(...data).ended).toBe(1)
        const killed = pidOf('control-1')
        process.kill(killed, 'SIGKILL')
        while (isRunning(killed)) await sleep(10)
        const client = clientOf(base!)
        for (let asked = 0; asked < 4; asked++) expect((await client.call('GET', '/device_profiles')).status).toBe(200)
        const [, again] = await run.said(/^control-1 +ready +pid (\d+).* restarts 1$/m)
        run.child.kill('SIGINT')
        expect(await run.ended).toBe(0)
        expect([...pids, Number(again)].filter(isRunning)).toEqual([])
      },
      LONG,
    )

    test(
      'the check binds on what the last run has left, and ends well',
      async () => {
        const run = started(...data, '--listen', '127.0.0.1:0', '--controls', '1', '--hosts', '1', '--check')
        expect([await run.ended, run.text()]).toEqual([0, expect.stringMatching(/^check: ARQ .* was Bound \d+ ms/m)])
      },
      LONG,
    )
  }),
)
