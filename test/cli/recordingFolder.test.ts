/** A recording of a host in the place of the host: what it answers, what it cannot, and that nothing is changed. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { recordedHostIn, writeRecording } from '../../src/cli/hardware/recordingFolder.ts'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { ProgramFailed } from '../../src/drivers/programFailed.ts'
import { recorder } from '../../src/drivers/recording.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('recording-folder')
afterAll(folder.remove)
const io = realHostIo({ hostname: 'h1', stateDir: folder.path, warn: () => undefined })
const RUNS = [
  { program: '/usr/bin/tool', args: ['-a'], output: 'printed', error: null },
  { program: '/usr/bin/tool', args: ['-b'], output: null, error: 'tool: broken' },
  { program: '/usr/bin/tool', args: ['-c'], output: null, error: null },
  { program: '/run/socket', args: ['ask'], output: '{"a": 1}', error: null },
  { program: '/dev/nvme0n1', args: ['O_EXCL'], output: '{"number": "259:0", "isClaimed": true}', error: null },
]
const made = join(folder.path, 'made')
const opened = async () => {
  await writeRecording(made, { tree: { sys: { file: 'text', link: { '->': 'file' } } }, runs: RUNS })
  writeFileSync(join(folder.path, 'secret'), 'of this machine')
  symlinkSync('../../secret', join(made, 'root', 'out'))
  mkdirSync(join(folder.path, 'made-too'))
  return recordedHostIn(made, io)
}

test('files, folders, links and programs are those of the recording', async () => {
  const host = await opened()
  expect([await host.read('/sys/file'), await host.read('/sys/link')]).toEqual(['text', 'text'])
  expect(Buffer.from(await host.head('/sys/file', 2)).toString()).toBe('te')
  expect([await host.list('/sys'), await host.list('/')]).toEqual([
    ['file', 'link'],
    ['out', 'sys'],
  ])
  expect([await host.link('/sys/link'), await host.link('/sys/file'), await host.link('/none/x')]).toEqual([
    'file',
    null,
    null,
  ])
  for (const path of ['/none', '/out', '/../commands.json', '/../../made-too'])
    await expect(host.read(path)).rejects.toMatchObject({ code: 'ENOENT', message: `ENOENT: ${path}` })
  await host.write('/sys/file', 'changed')
  await host.keep('/sys/file', 'changed')
  expect(await host.read('/sys/file')).toBe('text')
  await expect(host.change('card', '/usr/bin/tool', [], 1)).rejects.toThrow(/^a recorded host cannot be changed$/)
  await expect(host.list('/out')).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(host.list('/sys/file')).rejects.toMatchObject({ code: 'ENOTDIR' })
  expect(await host.link('/out/..')).toBeNull()
  expect(await host.run('/usr/bin/tool', ['-a'], 1)).toBe('printed')
  expect(await host.askSocket('/run/socket', 'ask', 1)).toEqual({ a: 1 })
  expect(await host.blockDevice('/dev/nvme0n1')).toEqual({ number: '259:0', isClaimed: true })
  await expect(host.blockDevice('/dev/nvme1n1')).rejects.toThrow(
    /^nvme1n1: was not called with these arguments when the host was recorded$/,
  )
  await expect(host.run('/usr/bin/tool', ['-b'], 1)).rejects.toThrow(/^tool: broken$/)
  await expect(host.run('/usr/bin/tool', ['-c'], 1)).rejects.toThrow(/^failed$/)
  await expect(host.run('/usr/bin/tool', ['-d'], 1)).rejects.toThrow(
    /^tool: was not called with these arguments when the host was recorded$/,
  )
})
test('what a program printed before it failed, and the bytes of a configuration space, are recorded', async () => {
  const [CONFIG, bytes] = ['/sys/bus/pci/devices/0000:3d:00.0/config', Uint8Array.of(0xde, 0x10, 0, 0xff)]
  const failing = async () => {
    throw new ProgramFailed('nvidia-smi: exit status 15', 'a row\n', 'lost')
  }
  const { io: looking, recording } = recorder({ ...io, head: async () => bytes, run: failing, link: async () => null })
  expect(await looking.head(CONFIG, 64)).toBe(bytes)
  await expect(looking.run('nvidia-smi', [], 1)).rejects.toThrow('nvidia-smi: exit status 15')
  const into = join(folder.path, 'of-a-lost-card')
  await writeRecording(into, recording())
  const host = await recordedHostIn(into, io)
  expect([...(await host.head(CONFIG, 64))]).toEqual([...bytes])
  await expect(host.run('nvidia-smi', [], 1)).rejects.toMatchObject({
    message: 'nvidia-smi: exit status 15',
    output: 'a row\n',
  })
})
test('a recording is written into a new or empty folder, and only such a folder is one', async () => {
  await expect(writeRecording(made, { tree: {}, runs: [] })).rejects.toThrow(/made: must be a new or empty folder$/)
  await expect(recordedHostIn(join(folder.path, 'none'), io)).rejects.toThrow(
    /none\/commands\.json: is not a recording of a host, which accelerando device record makes$/,
  )
  const half = join(folder.path, 'half')
  mkdirSync(half)
  writeFileSync(join(half, 'commands.json'), '[]')
  await expect(recordedHostIn(half, io)).rejects.toThrow(/half: has no folder root, and is not a recording of a host$/)
  writeFileSync(join(half, 'commands.json'), '[{"program": "x"}]')
  await expect(recordedHostIn(half, io)).rejects.toThrow(/is not a recording of a host/)
})
test('a named pipe or a device in a recording is refused, and blocks nothing', async () => {
  const odd = join(folder.path, 'odd')
  await writeRecording(odd, { tree: { sys: { file: 'text' }, dev: {} }, runs: [] })
  execFileSync('mkfifo', [join(odd, 'root/sys/pipe')])
  symlinkSync('pipe', join(odd, 'root/sys/link'))
  const host = await recordedHostIn(odd, io)
  await expect(host.read('/sys/pipe')).rejects.toThrow(/^\/sys\/pipe: is no regular file in the recording$/)
  await expect(host.head('/sys/pipe', 10)).rejects.toThrow(/^\/sys\/pipe: is no regular file in the recording$/)
  await expect(host.read('/sys/link')).rejects.toThrow(/^\/sys\/link: is no regular file in the recording$/)
  await expect(host.read('/sys')).rejects.toMatchObject({ code: 'EISDIR' })
  expect(await host.read('/sys/file')).toBe('text')
  rmSync(join(odd, 'commands.json'))
  for (const put of [
    () => execFileSync('mkfifo', [join(odd, 'commands.json')]),
    () => symlinkSync('/dev/zero', join(odd, 'commands.json')),
  ]) {
    put()
    await expect(recordedHostIn(odd, io)).rejects.toThrow(/odd\/commands\.json: is not a recording of a host/)
    rmSync(join(odd, 'commands.json'))
  }
})
