/** Who holds a folder, and who does so no more. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockFolder } from '../../src/persistence/folderLock.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'accelerando-lock-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const statOf = (pid: number): readonly string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 500) throw new Error('it did not come to pass within 5 s')
    await sleep(10)
  }
}
const holdBy = (pid: number): void =>
  writeFileSync(
    join(dir, 'lock'),
    JSON.stringify({
      pid,
      started: statOf(pid)[19],
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    }),
  )

test('a process that runs holds; one that has ended does not, though nobody has asked how it ended', async () => {
  // the shell becomes a program that knows of no child, so the child stays after its end
  const parent = spawn('sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const pid = await new Promise<number>((resolve) => {
      parent.stdout.once('data', (bytes: Buffer) => resolve(Number(bytes.toString())))
    })
    holdBy(pid)
    await expect(lockFolder(dir)).rejects.toThrow(`${dir} is in use by process ${pid}`)
    await until(() => statOf(pid)[0] === 'Z')
    const lock = await lockFolder(dir)
    expect(lock.held()).toBe(true)
    lock.release()
  } finally {
    parent.kill('SIGKILL')
  }
})

const fromAnother = (holder: object): void =>
  writeFileSync(
    join(dir, 'lock'),
    JSON.stringify({
      pid: process.pid,
      started: '1',
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
      space: 'pid:[1]',
      ...holder,
    }),
  )
test.each(['lock', 'a folder with a name that is longer than an address of a socket may be, '.repeat(2)])(
  'a process of another container holds as long as its socket answers: %s',
  async (name) => {
    dir = join(dir, name)
    const theirs = await lockFolder(dir)
    const { socket } = JSON.parse(readFileSync(join(dir, 'lock'), 'utf8')) as { readonly socket: string }
    fromAnother({ socket })
    await expect(lockFolder(dir)).rejects.toThrow(`${dir} is in use by process ${process.pid}`)
    // releases its socket alone: the lock file is not the one that it wrote
    theirs.release()
    ;(await lockFolder(dir)).release()
    expect(readdirSync(dir)).toEqual([])
  },
)
test('a process of another container without a socket keeps the folder until an operator decides', async () => {
  for (const socket of [null, '../lock.1.sock', undefined]) {
    fromAnother({ socket })
    await expect(lockFolder(dir)).rejects.toThrow(`delete ${join(dir, 'lock')}`)
    expect(readdirSync(dir)).toEqual(['lock'])
  }
})
test('a socket that a killed process has left behind does not hold, and is removed', async () => {
  const code = `import { createServer } from 'node:net'; createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`
  const killed = spawn(process.execPath, ['--input-type=module', '-e', code, join(dir, 'lock.ab.sock')])
  await new Promise((resolve) => void killed.on('exit', resolve))
  expect(readdirSync(dir)).toEqual(['lock.ab.sock'])
  fromAnother({ socket: 'lock.ab.sock' })
  ;(await lockFolder(dir)).release()
  expect(readdirSync(dir)).toEqual([])
})

const heldBy = (text: string): void => writeFileSync(join(dir, 'lock'), text)
test('a lock that cannot be read, or is of an earlier start of the machine, holds nobody up', async () => {
  const own = { pid: process.pid, started: statOf(process.pid)[19], boot: 'another' }
  for (const text of ['', 'no JSON', '{"pid":', JSON.stringify(own)]) {
    heldBy(text)
    ;(await lockFolder(dir)).release()
    expect(readdirSync(dir)).toEqual([])
  }
})
test('a process number that another process has got meanwhile holds nobody up', async () => {
  holdBy(process.pid)
  await expect(lockFolder(dir)).rejects.toThrow(
    `${dir} is in use by process ${process.pid}: only one process may open it at a time`,
  )
  const text = readFileSync(join(dir, 'lock'), 'utf8')
  for (const other of [{ started: '1' }, { pid: 4_194_304 }]) {
    heldBy(JSON.stringify({ ...(JSON.parse(text) as object), ...other }))
    ;(await lockFolder(dir)).release()
  }
})
test('a lock names its process, and is held until it is released or taken', async () => {
  const lock = await lockFolder(dir)
  const text = readFileSync(join(dir, 'lock'), 'utf8')
  expect(JSON.parse(text)).toEqual({
    pid: process.pid,
    started: statOf(process.pid)[19],
    boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    space: readlinkSync('/proc/self/ns/pid'),
    socket: expect.stringMatching(/^lock\.[\da-f]{8}\.sock$/),
  })
  expect(readdirSync(dir)).toHaveLength(2)
  await expect(lockFolder(dir)).rejects.toThrow('is in use by process')
  // whoever was refused has left nothing, and taken nothing away
  expect([lock.held(), readdirSync(dir).length]).toEqual([true, 2])
  heldBy('of another')
  expect(lock.held()).toBe(false)
  lock.release()
  expect(readdirSync(dir)).toEqual(['lock'])
  rmSync(join(dir, 'lock'))
  const again = await lockFolder(dir)
  again.release()
  expect([again.held(), readdirSync(dir)]).toEqual([false, []])
})
test('a folder that is not there is made, for its owner alone', async () => {
  const inner = join(dir, 'a', 'b')
  ;(await lockFolder(inner)).release()
  expect(statSync(inner).mode & 0o777).toBe(0o700)
})
