/** Who holds a folder, and who does so no more. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
    expect(() => lockFolder(dir)).toThrow(`${dir} is in use by process ${pid}`)
    await until(() => statOf(pid)[0] === 'Z')
    const lock = lockFolder(dir)
    expect(lock.held()).toBe(true)
    lock.release()
  } finally {
    parent.kill('SIGKILL')
  }
})
